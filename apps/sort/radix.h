/* radix.h: radix sort of 64-bit keys, and what several parts (parts.h) do to sort together.
 *
 * Each part has `share` keys of the input (the last ones fewer, or none) and computes the same places of the output.
 * They count their keys by the top 16 bits, from which all parts compute the same borders: border b is the key before
 * which exactly the places of the parts up to b lie. Where a border falls into the middle of equal top bits, they count
 * those keys again by the next 8 bits, down to the last; equal keys at a border are divided in the order of the input.
 * So every part gets as many keys as it has places, whatever the keys are. Then each part moves its keys to `staged`,
 * by destination; and takes from there what it has to sort.
 *
 * The shared arrays belong to the caller; a part writes only its own share of each. radix_sort_part blocks in
 * parts.wait; the rest is local. */
#ifndef SORT_RADIX_H
#define SORT_RADIX_H

#include <stdbool.h>

#include "../common/parts.h"
#include "../common/split.h"

enum { SORT_COUNT, SORT_MOVE, SORT_SORT }; /* categories of the split */

/* ---- alone ------------------------------------------------------------------------------------------------------- */

typedef struct radix_block {
  const uint64_t* keys;
  int64_t count;
} radix_block;

/* Sorts the keys of some blocks, all between `low` and `high`, into `out`; `work` has room for as many. */
void radix_sort(const radix_block blocks[], int count, uint64_t low, uint64_t high, uint64_t* work, uint64_t* out);

/* ---- together ---------------------------------------------------------------------------------------------------- */

typedef struct radix {
  struct parts parts;
  int64_t keys, share;   /* of all parts; of one */
  const uint64_t* input; /* these four are shared: part p has the elements from p * share */
  uint64_t *staged, *output;
  uint32_t *counts, *finer; /* radix_counts() and radix_finer() elements for each part */
} radix;

size_t radix_counts(void);
size_t radix_finer(int parts);

/* The share of a part: whole pages, so that no page has keys of two parts. */
int64_t radix_share(int64_t keys, int parts);

/* What a part has for itself. */
typedef struct radix_part {
  int part;
  uint64_t* work;        /* room for `share` keys */
  struct border* border; /* between the parts */
  int64_t* before;       /* of the keys of part p, those before border b: [p * (parts + 1) + b] */
  int16_t* route;        /* by the top 16 bits: to which part; -1: see the borders */
  int64_t* place;        /* where the next key for each part goes */
  radix_block* blocks;   /* what each part has for this one */
} radix_part;

/* False if there is no memory. radix_part_close frees it, also then. */
bool radix_part_open(radix_part* own, const radix* all, int part);
void radix_part_close(radix_part* own);

/* Sorts; called by all parts. The output is complete after the next parts.wait. */
void radix_sort_part(const radix* all, radix_part* own, split* split, int thread);

#endif
