/* The algorithms of Cormen and others, with NULL in the place of their sentinel: its parent would be written by every
 * removal, and all of them would conflict there. */
#include "set.h"

static node* load(critical with, node* const* at) { return critical_load_pointer(with, (void* const*)at); }
static void store(critical with, node** at, node* value) { critical_store_pointer(with, (void**)at, value); }
static bool is_red(critical with, const node* n) { return n != NULL && critical_load(with, &n->red) != 0; }
static void paint(critical with, node* n, bool red) { critical_store(with, &n->red, red); }
static node* kid(critical with, const node* n, int side) { return load(with, &n->kid[side]); }
static node* parent(critical with, const node* n) { return load(with, &n->parent); }
static int side_of(critical with, const node* n, const node* above) { return kid(with, above, 1) == n; }

static node* find(critical with, set* s, int64_t key, node** last) {
  node* n = load(with, &s->root);
  *last = NULL;
  while (n != NULL) {
    const int64_t here = critical_load(with, &n->key);
    if (here == key) return n;
    *last = n;
    n = kid(with, n, here < key);
  }
  return NULL;
}

/* Puts `other` (or NULL) in the place of n under its parent. */
static void replace(critical with, set* s, const node* n, node* other) {
  node* const above = parent(with, n);
  if (above == NULL) store(with, &s->root, other);
  else store(with, &above->kid[side_of(with, n, above)], other);
  if (other != NULL) store(with, &other->parent, above);
}

/* n goes down to `side`, and its kid of the other side comes up. */
static void rotate(critical with, set* s, node* n, int side) {
  node* const up = kid(with, n, !side);
  node* const inner = kid(with, up, side);
  replace(with, s, n, up);
  store(with, &n->kid[!side], inner);
  if (inner != NULL) store(with, &inner->parent, n);
  store(with, &up->kid[side], n);
  store(with, &n->parent, up);
}

CRITICAL_FUNCTION bool set_has(critical with, set* s, int64_t key) {
  node* last;
  return find(with, s, key, &last) != NULL;
}

static void repair_red(critical with, set* s, node* n) {
  for (node* up = parent(with, n); is_red(with, up); up = parent(with, n)) {
    node* const top = parent(with, up);
    const int side = side_of(with, up, top);
    node* const uncle = kid(with, top, !side);
    if (is_red(with, uncle)) {
      paint(with, up, false);
      paint(with, uncle, false);
      paint(with, top, true);
      n = top;
      continue;
    }
    if (side_of(with, n, up) != side) {
      rotate(with, s, up, side);
      n = up;
      up = parent(with, n);
    }
    paint(with, up, false);
    paint(with, top, true);
    rotate(with, s, top, !side);
  }
  node* const root = load(with, &s->root);
  if (is_red(with, root)) paint(with, root, false);
}

CRITICAL_FUNCTION bool set_insert(critical with, set* s, int64_t key) {
  node* above;
  if (find(with, s, key, &above) != NULL) return false;
  node* const n = critical_malloc(with, sizeof *n);
  critical_store(with, &n->key, key);
  paint(with, n, true);
  store(with, &n->kid[0], NULL);
  store(with, &n->kid[1], NULL);
  store(with, &n->parent, above);
  if (above == NULL) store(with, &s->root, n);
  else store(with, &above->kid[critical_load(with, &above->key) < key], n);
  repair_red(with, s, n);
  return true;
}

/* The paths through kid `side` of `up` have a black node too few. */
static void repair_black(critical with, set* s, node* up, int side) {
  while (up != NULL && !is_red(with, kid(with, up, side))) {
    node* other = kid(with, up, !side);
    if (is_red(with, other)) {
      paint(with, other, false);
      paint(with, up, true);
      rotate(with, s, up, side);
      other = kid(with, up, !side);
    }
    if (!is_red(with, kid(with, other, 0)) && !is_red(with, kid(with, other, 1))) {
      paint(with, other, true);
      node* const above = parent(with, up);
      if (is_red(with, up) || above == NULL) {
        paint(with, up, false);
        return;
      }
      side = side_of(with, up, above);
      up = above;
      continue;
    }
    if (!is_red(with, kid(with, other, !side))) {
      paint(with, kid(with, other, side), false);
      paint(with, other, true);
      rotate(with, s, other, !side);
      other = kid(with, up, !side);
    }
    paint(with, other, is_red(with, up));
    paint(with, up, false);
    paint(with, kid(with, other, !side), false);
    rotate(with, s, up, side);
    return;
  }
  node* const n = up == NULL ? load(with, &s->root) : kid(with, up, side);
  if (is_red(with, n)) paint(with, n, false);
}

CRITICAL_FUNCTION bool set_remove(critical with, set* s, int64_t key) {
  node* above;
  node* n = find(with, s, key, &above);
  if (n == NULL) return false;
  if (kid(with, n, 0) != NULL && kid(with, n, 1) != NULL) { /* the next larger one moves here, and its node goes */
    node* next = kid(with, n, 1);
    for (node* left = kid(with, next, 0); left != NULL; left = kid(with, next, 0)) next = left;
    critical_store(with, &n->key, critical_load(with, &next->key));
    n = next;
  }
  above = parent(with, n);
  const int side = above == NULL ? 0 : side_of(with, n, above);
  node* const left = kid(with, n, 0);
  replace(with, s, n, left != NULL ? left : kid(with, n, 1));
  if (!is_red(with, n)) repair_black(with, s, above, side);
  critical_free(with, n);
  return true;
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

/* The black height, or -1. Keys are in [low, high]. */
static int height(const node* n, int64_t low, int64_t high, int64_t* size, const char** wrong) {
  if (n == NULL) return 0;
  if (n->key < low || n->key > high) *wrong = "keys are out of order";
  for (int side = 0; side < 2; side++) {
    const node* const k = n->kid[side];
    if (k != NULL && k->parent != n) *wrong = "a parent pointer is wrong";
    if (k != NULL && n->red && k->red) *wrong = "a red node has a red kid";
  }
  ++*size;
  if (*wrong != NULL) return -1; /* what is not a tree is not followed for ever */
  const int left = height(n->kid[0], low, n->key - 1, size, wrong);
  const int right = *wrong != NULL ? -1 : height(n->kid[1], n->key + 1, high, size, wrong);
  if (*wrong == NULL && left != right) *wrong = "black heights differ";
  return left + !n->red;
}

const char* set_check(const set* s, int64_t* size) {
  const char* wrong = NULL;
  *size = 0;
  if (s->root == NULL) return NULL;
  if (s->root->red) return "the root is red";
  if (s->root->parent != NULL) return "the root has a parent";
  height(s->root, INT64_MIN + 1, INT64_MAX - 1, size, &wrong);
  return wrong;
}
