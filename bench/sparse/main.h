/* main.h: what the programs of this folder share: matrices as functions of the row, command line, clock, report.
 * Private to the process that includes it; nothing here communicates or blocks.
 *
 *     PROGRAM spmv|cg|pipelined MATRIX N TIMES [FORMAT]    MATRIX: points27 (N^3 rows), laplace2d (N^2), power, near
 * (N)
 *
 * points27: 26 on the diagonal, -1 for each of up to 26 neighbours on a grid. laplace2d: 4 and -1. power: a graph whose
 * rows have lengths by a power law; of four columns three are near to the diagonal, and one is anywhere, by Zipf's law,
 * so that few columns are in many rows; made of a hash of the row, so that all ranks and programs make the same. near:
 * rows as long, of which all columns are near to the diagonal, which shows what the far ones cost.
 */
#ifndef SPARSE_BENCH_MAIN_H
#define SPARSE_BENCH_MAIN_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/clock.h"

enum { MOST = 2000 }; /* entries of a row */

typedef struct problem {
  const char* what;
  const char* matrix;
  int64_t side, rows;
  int times;
  const char* format;
} problem;

static inline problem read_problem(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: %s spmv|cg|pipelined points27|laplace2d|power|near N TIMES [csr|sell]\n", argv[0]);
    exit(2);
  }
  problem p = {argv[1], argv[2], atoll(argv[3]), 0, atoi(argv[4]), argc > 5 ? argv[5] : ""};
  p.rows = p.side;
  if (strcmp(p.matrix, "points27") == 0) p.rows *= p.side * p.side;
  else if (strcmp(p.matrix, "laplace2d") == 0) p.rows *= p.side;
  return p;
}

static inline int64_t points27(const problem* p, int64_t i, int64_t* columns, double* values) {
  const int64_t n = p->side, z = i / (n * n), y = i / n % n, x = i % n;
  int64_t count = 0;
  for (int64_t c = z - 1; c <= z + 1; c++)
    for (int64_t b = y - 1; b <= y + 1; b++)
      for (int64_t a = x - 1; a <= x + 1; a++) {
        if (a < 0 || b < 0 || c < 0 || a >= n || b >= n || c >= n) continue;
        columns[count] = (c * n + b) * n + a;
        values[count] = columns[count] == i ? 26 : -1;
        count++;
      }
  return count;
}

static inline int64_t laplace2d(const problem* p, int64_t i, int64_t* columns, double* values) {
  const int64_t n = p->side, y = i / n, x = i % n;
  int64_t count = 0;
  if (y > 0) columns[count] = i - n, values[count++] = -1;
  if (x > 0) columns[count] = i - 1, values[count++] = -1;
  columns[count] = i, values[count++] = 4;
  if (x < n - 1) columns[count] = i + 1, values[count++] = -1;
  if (y < n - 1) columns[count] = i + n, values[count++] = -1;
  return count;
}

static inline uint64_t mixed(uint64_t x) {
  x ^= x >> 31, x *= 0x7fb5d329728ea185, x ^= x >> 27, x *= 0x81dadef4bc2dd44d;
  return x ^ x >> 33;
}

static inline int by_number(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
  return (x > y) - (x < y);
}

static inline int64_t power(const problem* p, int64_t i, int64_t* columns, double* values) {
  const int all_near = strcmp(p->matrix, "near") == 0;
  const double chance = (double)(mixed((uint64_t)i) >> 11) * 0x1p-53;
  int64_t wanted = (int64_t)(8 / pow(chance + 1e-9, 0.6)), count = 0;
  if (wanted >= MOST) wanted = MOST - 1;
  columns[count++] = i;
  for (int64_t k = 0; k < wanted; k++) {
    const uint64_t draw = mixed((uint64_t)i * 4099 + (uint64_t)k + 17);
    const double part = (double)(draw >> 11) * 0x1p-53;
    int64_t j = all_near || k % 4 != 0 ? i + (int64_t)(part * 2000) - 1000 : (int64_t)pow((double)p->rows, part);
    columns[count++] = j < 0 ? -j : j >= p->rows ? p->rows - 1 : j;
  }
  qsort(columns, (size_t)count, sizeof *columns, by_number);
  int64_t unique = 0;
  for (int64_t k = 0; k < count; k++)
    if (unique == 0 || columns[unique - 1] != columns[k]) columns[unique++] = columns[k];
  for (int64_t k = 0; k < unique; k++) values[k] = 1.0 / (1 + (double)(mixed((uint64_t)(i + columns[k])) % 16));
  return unique;
}

static inline int64_t fill_row(int64_t i, int64_t columns[], void* values, void* context) {
  const problem* const p = context;
  if (strcmp(p->matrix, "points27") == 0) return points27(p, i, columns, values);
  if (strcmp(p->matrix, "laplace2d") == 0) return laplace2d(p, i, columns, values);
  return power(p, i, columns, values);
}

/* Element i of x, and of b. */
static inline double element(int64_t i) { return 1 + (double)(i % 11) / 11; }
/* What element i of A x counts in the checksum. */
static inline double weight(int64_t i) { return 1 + (double)(i % 7); }

static inline int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[count / 2];
}

/* Compulsory traffic of a product: each entry with its column, where rows begin, x once, y once. */
static inline double bytes_of_product(int64_t rows, int64_t entries) {
  return 12.0 * (double)entries + (8.0 + 8 + 8) * (double)rows;
}

/* `seconds`: of one product, or one iteration. */
static inline void report(const problem* p, double seconds, int64_t entries, double checksum, int64_t iterations) {
  printf("{\"seconds\": %.9g, \"gbytes\": %.6g, \"entries\": %lld, \"checksum\": %.15g, \"iterations\": %lld}\n",
         seconds, 1e-9 * bytes_of_product(p->rows, entries) / seconds, (long long)entries, checksum,
         (long long)iterations);
}

#endif
