/* Radix sort of the keys that one part has. */
#include "radix.h"

#include <string.h>

enum { FIRST_BITS = 10, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, FEW = 32 };

static void insert(const uint64_t* from, uint64_t* to, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const uint64_t key = from[i];
    int64_t at = i;
    for (; at > 0 && to[at - 1] > key; at--) to[at] = to[at - 1];
    to[at] = key;
  }
}

/* From the lowest digit to the one below bit `bits`, to and fro; digits in which all keys are equal are left out. */
static void by_digits(uint64_t* from, uint64_t* to, int64_t count, int bits) {
  enum { PASSES = 64 / DIGIT_BITS };
  const int passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
  uint32_t places[PASSES][DIGITS];
  memset(places, 0, (size_t)passes * sizeof places[0]);
  for (int64_t i = 0; i < count; i++)
    for (int p = 0; p < passes; p++) places[p][from[i] >> p * DIGIT_BITS & (DIGITS - 1)]++;
  uint64_t *a = from, *b = to;
  for (int p = 0; p < passes; p++) {
    uint32_t* const place = places[p];
    const int shift = p * DIGIT_BITS;
    if (place[a[0] >> shift & (DIGITS - 1)] == count) continue;
    uint32_t at = 0;
    for (int d = 0; d < DIGITS; d++) {
      const uint32_t here = place[d];
      place[d] = at;
      at += here;
    }
    for (int64_t i = 0; i < count; i++) b[place[a[i] >> shift & (DIGITS - 1)]++] = a[i];
    uint64_t* const other = a;
    a = b;
    b = other;
  }
  if (a != to) memcpy(to, a, (size_t)count * sizeof *to);
}

/* One pass by the highest bits in which keys differ, so that what follows is done in the cache. */
void radix_sort(const radix_block blocks[], int count, uint64_t low, uint64_t high, uint64_t* work, uint64_t* out) {
  enum { BUCKETS = 1 << FIRST_BITS };
  const int differ = low == high ? 0 : 64 - __builtin_clzll(low ^ high);
  const int shift = differ > FIRST_BITS ? differ - FIRST_BITS : 0;
  int64_t end[BUCKETS] = {0}, begin = 0;
  for (int b = 0; b < count; b++)
    for (int64_t i = 0; i < blocks[b].count; i++) end[blocks[b].keys[i] >> shift & (BUCKETS - 1)]++;
  for (int d = 0; d < BUCKETS; d++) { /* where each begins; after the pass, where it ends */
    const int64_t here = end[d];
    end[d] = begin;
    begin += here;
  }
  for (int b = 0; b < count; b++)
    for (int64_t i = 0; i < blocks[b].count; i++) {
      const uint64_t key = blocks[b].keys[i];
      work[end[key >> shift & (BUCKETS - 1)]++] = key;
    }
  begin = 0;
  for (int d = 0; d < BUCKETS; d++) {
    const int64_t here = end[d] - begin;
    if (here <= FEW) insert(work + begin, out + begin, here);
    else by_digits(work + begin, out + begin, here, shift);
    begin = end[d];
  }
}
