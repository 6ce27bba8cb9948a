#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "../common/memory.h"

enum { ARRAYS = 14 };

block block_begin(himeno* h, int first, int rows) {
  block b = {.first = first, .rows = rows, .row = (size_t)h->columns * (size_t)h->depth};
  const size_t points = (size_t)(rows + 2) * b.row, inside = b.row;
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

double block_step(const himeno* h, const block* of) {
  const ptrdiff_t J = h->depth, I = (ptrdiff_t)of->row; /* from a row, and a column, to the next */
  const int begin = larger(of->first, 1) - of->first, end = smaller(of->first + of->rows, h->rows - 2) - of->first;
  float* const restrict w2 = of->wrk2, * const p = of->p;
  double gosa = 0;
  for (int i = begin; i < end; i++)
    for (int j = 1; j < h->columns - 2; j++)
      for (int k = 1; k < h->depth - 2; k++) {
        const ptrdiff_t x = i * I + j * J + k;
        const float s0 = of->a[0][x] * p[x + I] + of->a[1][x] * p[x + J] + of->a[2][x] * p[x + 1] +
                         of->b[0][x] * (p[x + I + J] - p[x + I - J] - p[x - I + J] + p[x - I - J]) +
                         of->b[1][x] * (p[x + J + 1] - p[x - J + 1] - p[x + J - 1] + p[x - J - 1]) +
                         of->b[2][x] * (p[x + I + 1] - p[x - I + 1] - p[x + I - 1] + p[x - I - 1]) +
                         of->c[0][x] * p[x - I] + of->c[1][x] * p[x - J] + of->c[2][x] * p[x - 1] + of->wrk1[x];
        const float ss = (s0 * of->a[3][x] - p[x]) * of->bnd[x];
        gosa += ss * ss;
        w2[x] = p[x] + HIMENO_OMEGA * ss;
      }
  for (int i = begin; i < end; i++)
    for (int j = 1; j < h->columns - 2; j++)
      for (int k = 1; k < h->depth - 2; k++) p[i * I + j * J + k] = w2[i * I + j * J + k];
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
