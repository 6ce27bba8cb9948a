/* The matrix, and whether a factor is the factor of it.
 *
 * The numbers are those of LAPACK's dlarnv(1) with seed (0,0,0,1), column by column, plus the transposed, plus n on the
 * diagonal. The generator is x = a x mod 2^48, so that any of its numbers is a power of a, and every rank computes the
 * tiles that it has, alone and with the same bits. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/memory.h"
#include "cholesky.h"
#include "kernels.h"

static const uint64_t multiplier = UINT64_C(33952834046453), mask = (UINT64_C(1) << 48) - 1;
static const double unit = 1.0 / (double)(UINT64_C(1) << 48);

static uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result & mask;
}

void matrix_fill(const cholesky* c, int i, int j, double* tile, int lead) {
  const uint64_t n = (uint64_t)c->n, first_row = (uint64_t)i * (uint64_t)c->tile, down = power(multiplier, n);
  const int rows = cholesky_extent(c, i), columns = cholesky_extent(c, j);
  for (int y = 0; y < columns; y++) {
    const uint64_t column = (uint64_t)j * (uint64_t)c->tile + (uint64_t)y;
    uint64_t x = power(multiplier, first_row + column * n + 1); /* of (row, column) */
    uint64_t z = power(multiplier, column + first_row * n + 1); /* of (column, row) */
    double* const to = tile + (ptrdiff_t)y * lead;
    for (int r = 0; r < rows; r++, x = x * multiplier & mask, z = z * down & mask) to[r] = unit * (double)(x + z);
    if (i == j) to[y] += c->n;
  }
  const int bad = c->indefinite - 1 - i * c->tile;
  if (i == j && bad >= 0 && bad < rows) tile[bad + (ptrdiff_t)bad * lead] = -1;
}

double matrix_logdet(const cholesky* c) {
  double sum = 0;
  for (int k = 0; k < c->tiles; k++) {
    const double* const tile = cholesky_mine(c, k, k) ? cholesky_tile(c, k, k) : NULL;
    const int lead = cholesky_lead(c, k);
    for (int d = 0; tile != NULL && d < cholesky_extent(c, k); d++) sum += 2 * log(tile[d + (ptrdiff_t)d * lead]);
  }
  return team_sum(&c->run.team, sum);
}

/* ---- the residual ------------------------------------------------------------------------------------------------ */

/* What this rank has of A, from which the products of the factor's columns of tiles are subtracted. */
typedef struct difference {
  double** tile; /* at i + j * tiles; NULL: another rank's */
  double* memory;
  double* diagonal; /* a copy of a tile of the factor, with zeros above the diagonal */
  const double** panel;
  double *of_a, *of_difference; /* the sums of columns */
} difference;

static void release(difference* d) {
  free(d->tile);
  free(d->memory);
  free(d->diagonal);
  free(d->panel);
  free(d->of_a);
  free(d->of_difference);
}

static difference reserve(const cholesky* c) {
  const size_t n = (size_t)c->n, tiles = (size_t)c->tiles, b = (size_t)c->tile;
  size_t numbers = 0;
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) numbers += cholesky_mine(c, i, j) ? cholesky_numbers(c, i, j) : 0;
  memory_check(&c->run.team, 2 * sizeof(double) * (double)numbers, "--verify");
  difference d = {.tile = calloc(tiles * tiles, sizeof *d.tile),
                  .memory = memory_pages(numbers * sizeof(double)),
                  .diagonal = malloc(b * b * sizeof(double)),
                  .panel = calloc(tiles, sizeof *d.panel),
                  .of_a = calloc(n, sizeof(double)),
                  .of_difference = calloc(n, sizeof(double))};
  const bool good = d.tile != NULL && d.memory != NULL && d.diagonal != NULL && d.panel != NULL && d.of_a != NULL &&
                    d.of_difference != NULL;
  team_agree(&c->run.team, good, TEAM_BAD_INPUT, "no memory to verify; use a smaller --size");
  double* at = d.memory;
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) {
      if (!cholesky_mine(c, i, j)) continue;
      d.tile[(size_t)i + (size_t)j * tiles] = at;
      at += cholesky_numbers(c, i, j);
    }
  return d;
}

/* Adds the magnitudes in a tile to the sums of their columns, and of the columns that mirror their rows. */
static void add_magnitudes(const cholesky* c, const double* tile, int i, int j, double sums[]) {
  const int rows = cholesky_extent(c, i), columns = cholesky_extent(c, j);
  const size_t first_row = (size_t)i * (size_t)c->tile, first_column = (size_t)j * (size_t)c->tile;
  for (int y = 0; y < columns; y++)
    for (int x = i == j ? y : 0; x < rows; x++) {
      const double a = fabs(tile[x + (ptrdiff_t)y * rows]);
      sums[first_column + (size_t)y] += a;
      if (i != j || x != y) sums[first_row + (size_t)x] += a;
    }
}

/* The largest sum; not a number if any is none. */
static double norm(const cholesky* c, const double sums[]) {
  double most = 0;
  for (int x = 0; x < c->n; x++) {
    const double sum = team_sum(&c->run.team, sums[x]);
    if (!(sum <= most)) most = sum;
    if (isnan(most)) break;
  }
  return most;
}

/* Subtracts the product of column k of the factor's tiles and its transposed. */
static void subtract(cholesky* c, difference* d, int k) {
  const int tiles = c->tiles, columns = cholesky_extent(c, k);
  if (c->program->panel != NULL) c->program->panel(c, k, d->panel);
  else
    for (int i = k; i < tiles; i++) d->panel[i] = cholesky_tile(c, i, k);
  for (int y = 0; y < columns; y++)
    for (int x = 0; x < columns; x++)
      d->diagonal[x + y * columns] = x < y ? 0 : d->panel[k][x + (ptrdiff_t)y * cholesky_lead(c, k)];
#pragma omp parallel for schedule(dynamic)
  for (int at = 0; at < cholesky_triangle(c, k); at++) {
    int i, j;
    cholesky_at_index(c, k, at, &i, &j);
    double* const to = d->tile[(size_t)i + (size_t)j * (size_t)tiles];
    if (to == NULL) continue;
    const double* const left = i == k ? d->diagonal : d->panel[i];
    const double* const right = j == k ? d->diagonal : d->panel[j];
    kernel_gemm(cholesky_extent(c, i), cholesky_extent(c, j), columns, left, i == k ? columns : cholesky_lead(c, i),
                right, j == k ? columns : cholesky_lead(c, j), to, cholesky_extent(c, i));
  }
}

double matrix_residual(cholesky* c) {
  difference d = reserve(c);
  kernels_threads(1);
  for (int pass = 0; pass < 2; pass++) {
    double* const sums = pass == 0 ? d.of_a : d.of_difference;
    for (int j = 0; j < c->tiles; j++)
      for (int i = j; i < c->tiles; i++) {
        double* const tile = d.tile[(size_t)i + (size_t)j * (size_t)c->tiles];
        if (tile == NULL) continue;
        if (pass == 0) matrix_fill(c, i, j, tile, cholesky_extent(c, i));
        add_magnitudes(c, tile, i, j, sums);
      }
    for (int k = 0; pass == 0 && k < c->tiles; k++) subtract(c, &d, k);
  }
  const double off = norm(c, d.of_difference), whole = norm(c, d.of_a);
  release(&d);
  return off / (c->n * whole * DBL_EPSILON);
}
