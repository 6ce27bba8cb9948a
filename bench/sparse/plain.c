/* Products in private memory by OpenMP: the usual loop of CSR; and (FORMAT gather) a loop that only adds up value[k]
 * x[column[k]] over all entries, without rows and results, which is what the loads alone cost in this order. Both
 * report the checksum of the first. */
#include <omp.h>

#include "main.h"

typedef struct csr {
  int64_t* start; /* rows + 1 */
  int32_t* column;
  double* value;
} csr;

/* Thread t of `threads` has as many entries as the others: the first row of it. */
static int64_t first_row(const csr* a, int64_t rows, int t, int threads) {
  const int64_t goal = a->start[rows] / threads * t;
  int64_t low = 0, high = rows;
  if (t == threads) return rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (a->start[middle] < goal) low = middle + 1;
    else high = middle;
  }
  return low;
}

static csr make_matrix(problem* p) {
  int64_t columns[MOST];
  double values[MOST];
  csr a = {malloc(((size_t)p->rows + 1) * sizeof *a.start), NULL, NULL};
  a.start[0] = 0;
  for (int64_t i = 0; i < p->rows; i++) a.start[i + 1] = a.start[i] + fill_row(i, columns, values, p);
  a.column = malloc((size_t)a.start[p->rows] * sizeof *a.column);
  a.value = malloc((size_t)a.start[p->rows] * sizeof *a.value);
  for (int64_t i = 0; i < p->rows; i++) {
    const int64_t n = fill_row(i, columns, values, p);
    for (int64_t k = 0; k < n; k++) a.column[a.start[i] + k] = (int32_t)columns[k], a.value[a.start[i] + k] = values[k];
  }
  return a;
}

static void multiply(const problem* p, const csr* a, const double* x, double* y) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t end = first_row(a, p->rows, t + 1, threads);
    for (int64_t i = first_row(a, p->rows, t, threads); i < end; i++) {
      double sum = 0;
      for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) sum += a->value[k] * x[a->column[k]];
      y[i] = sum;
    }
  }
}

static double gather(const problem* p, const csr* a, const double* x) {
  double all = 0;
#pragma omp parallel reduction(+ : all)
  {
    const int threads = omp_get_num_threads(), t = omp_get_thread_num();
    const int64_t begin = a->start[first_row(a, p->rows, t, threads)];
    const int64_t end = a->start[first_row(a, p->rows, t + 1, threads)];
    double sums[16] = {0};
    for (int64_t k = begin; k + 16 <= end; k += 16)
#pragma omp simd
      for (int l = 0; l < 16; l++) sums[l] += a->value[k + l] * x[a->column[k + l]];
    for (int l = 0; l < 16; l++) all += sums[l];
  }
  return all;
}

int main(int argc, char** argv) {
  problem p = read_problem(argc, argv);
  const int gathers = strcmp(p.format, "gather") == 0;
  const csr a = make_matrix(&p);
  double* const x = malloc((size_t)p.rows * sizeof *x);
  double* const y = malloc((size_t)p.rows * sizeof *y);
  double times[p.times], sum = 0, used = 0;
  for (int64_t i = 0; i < p.rows; i++) x[i] = element(i), y[i] = 0;
  for (int t = -3; t < p.times; t++) {
    const double begin = now();
    if (gathers) used += gather(&p, &a, x);
    else multiply(&p, &a, x, y);
    if (t >= 0) times[t] = now() - begin;
  }
  if (used < 0) fprintf(stderr, "a negative sum\n"); /* so that it is computed */
  multiply(&p, &a, x, y);
  for (int64_t i = 0; i < p.rows; i++) sum += y[i] * weight(i);
  report(&p, median(times, p.times), a.start[p.rows], sum, p.times);
  return 0;
}
