/* common.h: what all programs of this folder have: the matrix, the first vector, and from stencil2d the command line,
 * the clock and the report. Private to the process that includes it; nothing here communicates or blocks.
 *
 * The matrix is that of 27 points on a grid of N x N x N: 26 on the diagonal, 1 for each neighbour, of which a point at
 * the rim has fewer. Rows have different lengths, so only a general format holds it: CSR. A step multiplies a vector by
 * it and divides the result by 52, which keeps it bounded.
 */
#ifndef SPMV_COMMON_H
#define SPMV_COMMON_H

#include "../stencil2d/common.h"

#define ROWS (N * N * N)
#define NEAR (3 * N - 2) /* pairs of neighbours, or alike, in one dimension */
#define ENTRIES (NEAR * NEAR * NEAR)
#define SCALE (1.0 / 52)
enum { WARM_UP = 2 }; /* steps before the clock starts */

/* Of one dimension: how many neighbours and itself a point has, and all points before it. */
static inline int near_one(int i) { return 3 - (i == 0) - (i == N - 1); }
static inline int near_before(int i) { return i == 0 ? 0 : 3 * i - 1; }

/* Where the entries of a row begin. */
static inline int row_start(int row) {
  const int z = row / (N * N), y = row / N % N, x = row % N;
  if (row == ROWS) return ENTRIES;
  return (near_before(z) * NEAR + near_one(z) * near_before(y)) * NEAR + near_one(z) * near_one(y) * near_before(x);
}

/* Fills a row: its columns, ascending, and their values. */
static inline void fill_row(int row, int* columns, double* values) {
  const int z = row / (N * N), y = row / N % N, x = row % N;
  for (int c = larger(z - 1, 0); c <= smaller(z + 1, N - 1); c++)
    for (int b = larger(y - 1, 0); b <= smaller(y + 1, N - 1); b++)
      for (int a = larger(x - 1, 0); a <= smaller(x + 1, N - 1); a++) {
        *columns = (c * N + b) * N + a;
        *values++ = *columns++ == row ? 26 : 1;
      }
}

static inline double first_value(int row) { return 1 + row % 11 / 11.0; }
static inline double weight(int row) { return 1 + row % 7; }

#endif
