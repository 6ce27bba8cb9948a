/* Radix sort by several parts: borders, and the moves of keys between parts. */
#include <stdlib.h>
#include <string.h>

#include "../common/memory.h"
#include "radix.h"

enum {
  KEY_BITS = 64,
  TOP_BITS = 16,
  TOP = 1 << TOP_BITS,
  TOP_SHIFT = KEY_BITS - TOP_BITS,
  FINE_BITS = 8,
  FINE = 1 << FINE_BITS,
  LEVELS = TOP_SHIFT / FINE_BITS,
  PAGE = 4096,
};

typedef struct border {
  int64_t at;    /* keys before it, of all parts */
  uint64_t key;  /* the digits that are known; the others are 0 */
  int row;       /* the first border with this key, which has the counts of it; -1: all keys are before it */
  int64_t taken; /* how many keys of this part are equal to it and before it */
  int64_t seen;  /* such keys that this part has moved; of border `row` */
} border;

size_t radix_counts(void) { return TOP; }

size_t radix_finer(int parts) {
  const size_t page = PAGE / sizeof(uint32_t), row = (size_t)LEVELS * (size_t)parts * FINE;
  return (row + page - 1) / page * page;
}

int64_t radix_share(int64_t keys, int parts) {
  const int64_t share = (keys - 1) / parts + 1, page = PAGE / sizeof(uint64_t);
  return (share + page - 1) / page * page;
}

bool radix_part_open(radix_part* own, const radix* all, int part) {
  const size_t parts = (size_t)all->parts.count;
  own->part = part;
  own->work = memory_pages((size_t)all->share * sizeof *own->work);
  own->border = calloc(parts, sizeof *own->border);
  own->before = calloc(parts * (parts + 1), sizeof *own->before);
  own->route = malloc(TOP * sizeof *own->route);
  own->place = malloc(parts * sizeof *own->place);
  own->blocks = malloc(parts * sizeof *own->blocks);
  if (own->work != NULL) memset(own->work, 0, (size_t)all->share * sizeof *own->work); /* here, not while it sorts */
  return own->work != NULL && own->border != NULL && own->before != NULL && own->route != NULL && own->place != NULL &&
         own->blocks != NULL;
}

void radix_part_close(radix_part* own) {
  free(own->work);
  free(own->border);
  free(own->before);
  free(own->route);
  free(own->place);
  free(own->blocks);
}

static int64_t keys_of(const radix* all, int part) {
  return parts_first(all->keys, all->share, part + 1) - parts_first(all->keys, all->share, part);
}

static int64_t* before(const radix* all, const radix_part* own, int part, int border) {
  return &own->before[part * (all->parts.count + 1) + border];
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

/* The digit at which the keys before it, `less` and those of smaller digits, are about to exceed border b. `counts` are
 * those of part 0, of which each part has `row`. */
static int digit_of(const radix* all, const radix_part* own, int b, const uint32_t* counts, size_t row, int digits) {
  int64_t less = 0;
  for (int p = 0; p < all->parts.count; p++) less += *before(all, own, p, b);
  for (int d = 0; d < digits; d++) {
    int64_t here = 0;
    for (int p = 0; p < all->parts.count; p++) here += counts[(size_t)p * row + (size_t)d];
    if (less + here > own->border[b].at) return d;
    less += here;
  }
  return digits - 1; /* not reached: at least border.at + 1 keys have been counted */
}

/* Border b is among the keys of this digit, which begins at bit `shift`. */
static void descend(const radix* all, radix_part* own, int b, const uint32_t* counts, size_t row, int digits,
                    int shift) {
  const int digit = digit_of(all, own, b, counts, row, digits);
  own->border[b].key |= (uint64_t)digit << shift;
  for (int p = 0; p < all->parts.count; p++)
    for (int d = 0; d < digit; d++) *before(all, own, p, b) += counts[(size_t)p * row + (size_t)d];
  if (shift > 0) return;
  int64_t rest = own->border[b].at; /* keys equal to the border that are before it, in the order of the parts */
  for (int p = 0; p < all->parts.count; p++) rest -= *before(all, own, p, b);
  for (int p = 0; p < all->parts.count; p++) {
    const int64_t equal = counts[(size_t)p * row + (size_t)digit], taken = rest < equal ? rest : equal;
    *before(all, own, p, b) += taken;
    rest -= taken;
    if (p == own->part) own->border[b].taken = taken;
  }
}

static void top_borders(const radix* all, radix_part* own) {
  const int parts = all->parts.count;
  memset(own->before, 0, (size_t)parts * (size_t)(parts + 1) * sizeof *own->before);
  for (int p = 0; p < parts; p++) *before(all, own, p, parts) = keys_of(all, p);
  for (int b = 1; b < parts; b++) {
    own->border[b] = (border){.at = parts_first(all->keys, all->share, b)};
    if (own->border[b].at == all->keys) { /* the parts after it are empty */
      own->border[b].key = UINT64_MAX;
      own->border[b].row = -1;
      for (int p = 0; p < parts; p++) *before(all, own, p, b) = keys_of(all, p);
    } else {
      descend(all, own, b, all->counts, TOP, TOP, TOP_SHIFT);
    }
  }
}

/* Where keys with these top bits go. Keys among which there is a border are collected in own->work. */
static int64_t route_keys(const radix* all, radix_part* own) {
  const int parts = all->parts.count;
  for (int d = 0, b = 1; d < TOP; d++) {
    while (b < parts && own->border[b].row >= 0 && own->border[b].key >> TOP_SHIFT < (uint64_t)d) b++;
    const bool among = b < parts && own->border[b].row >= 0 && own->border[b].key >> TOP_SHIFT == (uint64_t)d;
    own->route[d] = (int16_t)(among ? -1 : b - 1);
  }
  const uint64_t* const keys = all->input + own->part * all->share;
  const int64_t count = keys_of(all, own->part);
  int64_t found = 0;
  for (int64_t i = 0; i < count; i++)
    if (own->route[keys[i] >> TOP_SHIFT] < 0) own->work[found++] = keys[i];
  return found;
}

/* The borders to the last bit. */
static void fine_borders(const radix* all, radix_part* own, int64_t candidates) {
  const int parts = all->parts.count;
  const size_t row = radix_finer(parts);
  uint32_t* const mine = all->finer + (size_t)own->part * row;
  memset(mine, 0, row * sizeof *mine);
  for (int level = 0; level < LEVELS; level++) {
    const int above = TOP_SHIFT - level * FINE_BITS, shift = above - FINE_BITS;
    const size_t rows = (size_t)level * (size_t)parts;
    for (int b = 1; b < parts; b++)
      if (own->border[b].row >= 0)
        own->border[b].row = b > 1 && own->border[b].key == own->border[b - 1].key ? own->border[b - 1].row : b;
    for (int64_t i = 0; i < candidates; i++)
      for (int b = 1; b < parts; b++)
        if (own->border[b].row == b && own->work[i] >> above == own->border[b].key >> above)
          mine[(rows + (size_t)b) * FINE + (own->work[i] >> shift & (FINE - 1))]++;
    all->parts.wait();
    for (int p = 0; p < parts; p++)
      parts_fetch(&all->parts, all->finer + (size_t)p * row + rows * FINE, (size_t)parts * FINE * sizeof *mine);
    for (int b = 1; b < parts; b++)
      if (own->border[b].row >= 0)
        descend(all, own, b, all->finer + (rows + (size_t)own->border[b].row) * FINE, row, FINE, shift);
  }
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

/* The part that a key goes to whose top bits do not say it. */
static int destination(const radix* all, radix_part* own, uint64_t key) {
  int b = 1;
  while (b < all->parts.count && own->border[b].key < key) b++;
  if (b == all->parts.count || own->border[b].key > key || own->border[b].row < 0) return b - 1;
  const int64_t seen = own->border[b].seen++;
  while (b < all->parts.count && own->border[b].row >= 0 && own->border[b].key == key && own->border[b].taken <= seen)
    b++;
  return b - 1;
}

static void move_keys(const radix* all, radix_part* own) {
  const int64_t count = keys_of(all, own->part);
  const uint64_t* const keys = all->input + own->part * all->share;
  uint64_t* const to = all->staged + own->part * all->share;
  int64_t* const place = own->place;
  memcpy(place, before(all, own, own->part, 0), (size_t)all->parts.count * sizeof *place);
  for (int64_t i = 0; i < count; i++) {
    int part = own->route[keys[i] >> TOP_SHIFT];
    if (part < 0) part = destination(all, own, keys[i]);
    to[place[part]++] = keys[i];
  }
}

/* What the others have for this part. */
static void take_blocks(const radix* all, radix_part* own) {
  for (int p = 0; p < all->parts.count; p++) {
    const int64_t from = *before(all, own, p, own->part), to = *before(all, own, p, own->part + 1);
    own->blocks[p] = (radix_block){all->staged + p * all->share + from, to - from};
    parts_fetch(&all->parts, own->blocks[p].keys, (size_t)(to - from) * sizeof(uint64_t));
  }
}

void radix_sort_part(const radix* all, radix_part* own, split* split, int thread) {
  const int parts = all->parts.count, part = own->part;
  const uint64_t* const keys = all->input + part * all->share;
  uint32_t* const counts = all->counts + (size_t)part * TOP;
  double clock = team_now();
  memset(counts, 0, TOP * sizeof *counts);
  for (int64_t i = 0, count = keys_of(all, part); i < count; i++) counts[keys[i] >> TOP_SHIFT]++;
  clock = split_add(split, thread, SORT_COUNT, clock);
  all->parts.wait();
  clock = team_now();
  parts_fetch(&all->parts, all->counts, (size_t)parts * TOP * sizeof *counts);
  top_borders(all, own);
  fine_borders(all, own, route_keys(all, own));
  clock = split_add(split, thread, SORT_COUNT, clock);
  move_keys(all, own);
  clock = split_add(split, thread, SORT_MOVE, clock);
  all->parts.wait();
  clock = team_now();
  take_blocks(all, own);
  clock = split_add(split, thread, SORT_MOVE, clock);
  const uint64_t low = part > 0 ? own->border[part].key : 0;
  const uint64_t high = part < parts - 1 ? own->border[part + 1].key : UINT64_MAX;
  radix_sort(own->blocks, parts, low, high, own->work, all->output + part * all->share);
  split_add(split, thread, SORT_SORT, clock);
}
