#include <stdio.h>
#include <stdlib.h>

#include "barnes_hut.h"

void* bh_room(const bh* b, void* old, size_t bytes) {
  void* const room = realloc(old, bytes > 0 ? bytes : 1);
  if (room != NULL) return room;
  fprintf(stderr, "%s: rank %d has no memory for %zu bytes of lists; use a smaller --size or more ranks\n",
          b->team.program, b->team.rank, bytes);
  exit(TEAM_BAD_INPUT);
}

void area_free(const bh* b, area* a) {
  b->memory.give(a->bodies);
  b->memory.give(a->motions);
  *a = (area){.room = 0};
}

void area_reserve(const bh* b, area* a, int count) {
  if (a->room >= count) return;
  area_free(b, a);
  a->room = count + count / 8 + 64;
  a->bodies = b->memory.take((size_t)a->room * sizeof(body));
  a->motions = b->memory.take((size_t)a->room * sizeof(motion));
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

void tree_begin(bh* b, int bodies) {
  tree* t = &b->tree;
  t->cells.used = t->leaves.used = t->bodies = t->leaf_count = t->groups = 0;
  t->twins.found = false;
  if (bodies <= t->room) return;
  t->room = bodies + bodies / 8;
  t->order = bh_room(b, t->order, sizeof *t->order * (size_t)t->room);
  t->leaf = bh_room(b, t->leaf, sizeof *t->leaf * (size_t)t->room);
  t->group = bh_room(b, t->group, sizeof *t->group * ((size_t)t->room + 1));
}

static void* take(bh* b, pool* p, size_t bytes) {
  if (p->used == p->chunks * CHUNK) {
    p->chunk = bh_room(b, p->chunk, sizeof *p->chunk * (size_t)(p->chunks + 1));
    p->chunk[p->chunks++] = b->memory.take(CHUNK * bytes);
  }
  const int number = p->used++;
  return (char*)p->chunk[number / CHUNK] + (size_t)(number % CHUNK) * bytes;
}

cell* tree_cell(bh* b, cube whole) {
  cell* const c = take(b, &b->tree.cells, sizeof *c);
  *c = (cell){.whole = whole};
  for (int o = 0; o < 8; o++) c->rank[o] = (int16_t)b->team.rank;
  return c;
}

static void append(bh* b, eighth at, body* p, int home) {
  cell* const c = at.of;
  if (c->kind[at.number] == NOTHING) {
    c->kind[at.number] = LIST;
    c->in[at.number].leaf = take(b, &b->tree.leaves, sizeof(leaf));
    c->in[at.number].leaf->bodies = 0;
  }
  leaf* const l = c->in[at.number].leaf;
  l->home[l->bodies] = (int16_t)home;
  l->body[l->bodies++] = p;
  c->count[at.number]++;
}

/* A full leaf becomes a cell. */
static void divide(bh* b, eighth at, const cube* q) {
  const leaf* old = at.of->in[at.number].leaf;
  cell* const c = tree_cell(b, *q);
  for (int k = 0; k < old->bodies; k++) append(b, (eighth){c, octant_of(q, old->body[k])}, old->body[k], old->home[k]);
  at.of->kind[at.number] = CELL;
  at.of->in[at.number].cell = c;
}

static void note_twins(bh* b, const body* p, int home, const body* q, int other_home) {
  const int i = motion_of(b, home, p)->id, j = motion_of(b, other_home, q)->id;
  b->tree.twins = (twins){true, {smaller(i, j), larger(i, j)}, *q};
}

void tree_insert(bh* b, eighth at, cube q, body* p, int home) {
  for (;;) {
    const int kind = at.of->kind[at.number];
    const leaf* l = at.of->in[at.number].leaf;
    if (kind == NOTHING || (kind == LIST && l->bodies < LEAF)) break;
    if (q.half < b->tree.smallest) {
      note_twins(b, l->body[0], l->home[0], p, home);
      return;
    }
    if (kind == LIST) divide(b, at, &q);
    at.of->count[at.number]++;
    const int o = octant_of(&q, p);
    at = (eighth){at.of->in[at.number].cell, o};
    q = octant(q, o);
  }
  append(b, at, p, home);
}

/* ---- centres of mass, bodies in order, groups -------------------------------------------------------------------- */

void tree_add(double sum[4], const body* p) {
  sum[0] += p->m * p->x, sum[1] += p->m * p->y, sum[2] += p->m * p->z, sum[3] += p->m;
}

void tree_centre(eighth at, const double own[4], double sum[4]) {
  cell* const c = at.of;
  const int o = at.number;
  c->x[o] = (float)(own[0] / own[3] - c->whole.x);
  c->y[o] = (float)(own[1] / own[3] - c->whole.y);
  c->z[o] = (float)(own[2] / own[3] - c->whole.z);
  c->m[o] = (float)own[3];
  for (int d = 0; d < 4; d++) sum[d] += own[d];
}

static bool before(const body* a, const body* b) {
  if (a->x != b->x) return a->x < b->x;
  return a->y != b->y ? a->y < b->y : a->z < b->z;
}

/* By place, so that the order does not depend on the order of insertion. */
static void sort_leaf(bh* b, leaf* l) {
  for (int i = 1; i < l->bodies; i++) {
    body* const p = l->body[i];
    const int16_t home = l->home[i];
    int k = i;
    for (; k > 0 && before(p, l->body[k - 1]); k--) l->body[k] = l->body[k - 1], l->home[k] = l->home[k - 1];
    l->body[k] = p, l->home[k] = home;
    if (k > 0 && !before(l->body[k - 1], p)) note_twins(b, l->body[k - 1], l->home[k - 1], p, home);
  }
}

static void finish_leaf(bh* b, eighth at, double sum[4]) {
  tree* t = &b->tree;
  leaf* const l = at.of->in[at.number].leaf;
  sort_leaf(b, l);
  t->leaf[t->leaf_count++] = at;
  for (int k = 0; k < l->bodies; k++) {
    body* const p = l->body[k];
    tree_add(sum, p);
    t->order[t->bodies++] = (place){p, motion_of(b, l->home[k], p)};
  }
}

/* The next body begins a group. */
static void begin_group(tree* t) {
  if (t->groups == 0 || t->group[t->groups - 1] != t->bodies) t->group[t->groups++] = t->bodies;
}

static void finish(bh* b, eighth at, int curve, double sum[4]) {
  double own[4] = {0};
  const int count = at.of->count[at.number];
  cell* const c = at.of->kind[at.number] == CELL ? at.of->in[at.number].cell : NULL;
  if (c == NULL) finish_leaf(b, at, own);
  for (int k = 0, run = GROUP; c != NULL && k < 8; k++) { /* run: bodies of the group that the next eighth may join */
    int inside;
    const int o = curve_octant(curve, k, &inside);
    if (c->count[o] == 0) continue;
    if (count > GROUP) { /* or else all of it is one group, or part of one */
      const bool joins = count <= PACKED && run + c->count[o] <= GROUP;
      if (!joins) begin_group(&b->tree);
      run = joins ? run + c->count[o] : c->count[o];
    }
    finish(b, (eighth){c, o}, inside, own);
  }
  tree_centre(at, own, sum);
}

void tree_finish(bh* b, eighth at, int curve, double sum[4]) {
  begin_group(&b->tree);
  finish(b, at, curve, sum);
  b->tree.group[b->tree.groups] = b->tree.bodies;
}

/* ---- BodySort ---------------------------------------------------------------------------------------------------- */

void tree_sort(bh* b) {
  tree* t = &b->tree;
  area* to = &b->spare;
  area_reserve(b, to, t->bodies);
  to->count = t->bodies;
  for (int i = 0; i < t->bodies; i++) {
    to->bodies[i] = *t->order[i].body;
    to->motions[i] = *t->order[i].motion;
    t->order[i] = (place){&to->bodies[i], &to->motions[i]};
  }
  for (int l = 0, i = 0; l < t->leaf_count; l++) {
    cell* const c = t->leaf[l].of;
    const int o = t->leaf[l].number;
    c->kind[o] = RUN;
    c->in[o].bodies = &to->bodies[i];
    i += c->count[o];
  }
  const area old = b->area;
  b->area = *to;
  *to = old;
}

void bh_free(bh* b) {
  tree* t = &b->tree;
  const pool* const pools[] = {&t->cells, &t->leaves};
  forces_free(b);
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < pools[p]->chunks; i++) b->memory.give(pools[p]->chunk[i]);
  area_free(b, &b->area);
  area_free(b, &b->spare);
  free(t->cells.chunk), free(t->leaves.chunk), free(t->order), free(t->leaf), free(t->group);
}
