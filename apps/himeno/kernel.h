/* kernel.h: the arrays and the step of the variants that have a block of rows in their own memory. The block is
 * [first, first + rows) of the whole, with one row more on each side. Local; memory_free frees. */
#ifndef HIMENO_KERNEL_H
#define HIMENO_KERNEL_H

#include "himeno.h"

typedef struct block {
  int first, rows;
  size_t row; /* points of a row */
  float *p, *a[4], *b[3], *c[3], *bnd, *wrk1, *wrk2;
  void* memory;
} block;

/* The rows [first, first + rows), with their values of the start. Collective. */
block block_begin(himeno* h, int first, int rows);

/* A step; returns the sum of the squares of its changes. The rows around the block must be there. */
double block_step(const himeno* h, const block* b);

uint64_t block_bits(const himeno* h, const block* b);

#endif
