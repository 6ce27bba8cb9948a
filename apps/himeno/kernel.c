#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "../common/memory.h"

/* Extents are powers of two: without a gap the same element of all arrays would lie in one set of the cache. */
enum { ARRAYS = 14, GAP = 17 * 64 / sizeof(float) };

block block_begin(himeno* h, int first, int rows) {
  block b = {.first = first, .rows = rows, .row = (size_t)h->columns * (size_t)h->depth};
  const size_t points = (size_t)(rows + 2) * b.row + GAP, inside = b.row;
  b.memory = memory_pages(ARRAYS * points * sizeof(float));
  team_agree(&h->team, b.memory != NULL, TEAM_BAD_INPUT, "no memory for %d arrays of %zu points", ARRAYS, points);
  memset(b.memory, 0, ARRAYS * points * sizeof(float));
  float* at = (float*)b.memory + inside; /* row `first` */
  float** const all[ARRAYS] = {&b.p,    &b.a[0], &b.a[1], &b.a[2], &b.a[3], &b.b[0], &b.b[1],
                               &b.b[2], &b.c[0], &b.c[1], &b.c[2], &b.bnd,  &b.wrk1, &b.wrk2};
  for (int i = 0; i < ARRAYS; i++, at += points) *all[i] = at;
  for (int i = -1; i <= rows; i++) {
    const int row = first + i;
    if (row < 0 || row >= h->rows - 1) continue; /* as in the original, values begin before the last row */
    for (int j = 0; j < h->columns - 1; j++)
      for (int k = 0; k < h->depth - 1; k++) {
        const ptrdiff_t x = (ptrdiff_t)i * (ptrdiff_t)b.row + (ptrdiff_t)j * h->depth + k;
        b.p[x] = himeno_start(h, row);
        b.a[0][x] = b.a[1][x] = b.a[2][x] = 1;
        b.a[3][x] = 1.0f / 6;
        b.c[0][x] = b.c[1][x] = b.c[2][x] = 1;
        b.bnd[x] = 1;
      }
  }
  return b;
}

/* The arrays are what they are in the sequential program, so that the compiler can do as much with the loop. */
double block_step(const himeno* h, const block* of) {
  const int columns = h->columns, depth = h->depth;
  typedef float(*grid)[columns][depth];
  const int begin = larger(of->first, 1) - of->first, end = smaller(of->first + of->rows, h->rows - 2) - of->first;
  const grid p = (grid)of->p, a0 = (grid)of->a[0], a1 = (grid)of->a[1], a2 = (grid)of->a[2], a3 = (grid)of->a[3];
  const grid b0 = (grid)of->b[0], b1 = (grid)of->b[1], b2 = (grid)of->b[2];
  const grid c0 = (grid)of->c[0], c1 = (grid)of->c[1], c2 = (grid)of->c[2], bnd = (grid)of->bnd, w1 = (grid)of->wrk1;
  float(*restrict w2)[columns][depth] = (grid)of->wrk2;
  double gosa = 0;
  for (int i = begin; i < end; i++)
    for (int j = 1; j < columns - 2; j++)
      for (int k = 1; k < depth - 2; k++) {
        const float s0 =
            a0[i][j][k] * p[i + 1][j][k] + a1[i][j][k] * p[i][j + 1][k] + a2[i][j][k] * p[i][j][k + 1] +
            b0[i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) +
            b1[i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) +
            b2[i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) +
            c0[i][j][k] * p[i - 1][j][k] + c1[i][j][k] * p[i][j - 1][k] + c2[i][j][k] * p[i][j][k - 1] + w1[i][j][k];
        const float ss = (s0 * a3[i][j][k] - p[i][j][k]) * bnd[i][j][k];
        gosa += ss * ss;
        w2[i][j][k] = p[i][j][k] + HIMENO_OMEGA * ss;
      }
  for (int i = begin; i < end; i++)
    for (int j = 1; j < columns - 2; j++)
      for (int k = 1; k < depth - 2; k++) p[i][j][k] = w2[i][j][k];
  return gosa;
}

uint64_t block_bits(const himeno* h, const block* b) {
  uint64_t sum = 0;
  for (int i = 0; i < b->rows; i++)
    for (int j = 0; j < h->columns; j++)
      for (int k = 0; k < h->depth; k++)
        sum += himeno_bits(h, b->first + i, j, k, b->p[(size_t)i * b->row + (size_t)j * (size_t)h->depth + (size_t)k]);
  return sum;
}
