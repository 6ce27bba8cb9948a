/* Checks an operation on all processes, then times it, and prints one line of JSON.
 *
 *     CONTESTANT OPERATION N [M]     zaxpy, zdotc, dznrm2 of N elements; zgemvN, zgemvT, zgemvC of M x N
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/clock.h"
#include "contestant.h"

enum { CALLS_AT_LEAST = 10, BATCHES = 7 };

enum { PHASES = 1009 };
static number phase[PHASES]; /* exp(ik): to fill 4 GiB by calls of cexp takes longer than the products */

static number x_of(long i) { return phase[i % PHASES]; }
static number y_of(long i) { return 0.5 * conj(phase[i % 503]) + 0.25; }
static number a_of(long i, long j) { return phase[(7 * i + 3 * j) % 257] / 16; }

static void fill(vector v, number (*of)(long)) {
  for (long i = 0; i < v.count; i++) v.data[i] = of(v.first + i);
}

static void require(int right, const char* what, double got, double wanted) {
  if (right) return;
  fprintf(stderr, "wrong: %s is %.17g, not %.17g\n", what, got, wanted);
  exit(1);
}

static void near(number got, number wanted, double scale, const char* what) {
  require(cabs(got - wanted) <= 1e-13 * scale, what, cabs(got), cabs(wanted));
}

static const number alpha = 0.3 - 0.1 * I, beta = 0.7 + 0.2 * I;
static vector x, y;
static matrix a;
static char trans;
static volatile double sink;

static void call_zaxpy(void) { zaxpy(1e-9 * alpha, x, y); }
static void call_zdotc(void) { sink = creal(zdotc(x, y)); }
static void call_dznrm2(void) { sink = dznrm2(x); }
static void call_zgemv(void) { zgemv(trans, alpha, a, x, beta, y); }

static void check_vectors(const char* operation) {
  if (strcmp(operation, "zaxpy") == 0) {
    zaxpy(alpha, x, y);
    wait_all();
    for (long i = 0; i < y.count; i++)
      near(y.data[i], alpha * x_of(y.first + i) + y_of(y.first + i), 2, "an element of y");
  } else if (strcmp(operation, "zdotc") == 0) {
    long double re = 0, im = 0;
    for (long i = 0; i < x.n; i++) {
      const number term = conj(x_of(i)) * y_of(i);
      re += creal(term), im += cimag(term);
    }
    near(zdotc(x, y), (double)re + I * (double)im, (double)x.n, "the product");
  } else {
    const double wanted = sqrt((double)x.n);
    near(dznrm2(x), wanted, wanted, "the norm");
  }
}

/* Of some elements: all would take longer than the benchmark. */
static void check_zgemv(void) {
  enum { CHECKED = 5 };
  const long terms = trans == 'N' ? a.n : a.m;
  zgemv(trans, alpha, a, x, beta, y);
  wait_all();
  for (long k = 0; k < CHECKED && k < y.count; k++) {
    const long at = y.count - 1 - k * (y.count / CHECKED), i = y.first + at;
    number sum = 0;
    for (long j = 0; j < terms; j++) {
      const number entry = trans == 'N' ? a_of(i, j) : a_of(j, i);
      sum += (trans == 'C' ? conj(entry) : entry) * x_of(j);
    }
    near(y.data[at], alpha * sum + beta * y_of(i), (double)terms, "an element of the product");
  }
}

/* The least time of a call, over batches of several; on the slowest process. */
static double time_of(void (*call)(void)) {
  double least = 1e9;
  long calls = 1;
  for (int batch = 0; batch <= BATCHES; batch++) {
    wait_all();
    const double begin = now();
    for (long k = 0; k < calls; k++) call();
    const double seconds = maximum(now() - begin) / (double)calls;
    if (batch == 0) calls = (long)(0.02 / seconds) + CALLS_AT_LEAST * (seconds < 1e-3) + 1;
    else if (seconds < least) least = seconds;
  }
  return least;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc < 3) return fprintf(stderr, "usage: %s OPERATION N [M]\n", argv[0]), 2;
  for (int k = 0; k < PHASES; k++) phase[k] = cexp(I * (double)k);
  const char* const operation = argv[1];
  const long n = atol(argv[2]), m = argc > 3 ? atol(argv[3]) : 0;
  double flops = 8.0 * (double)n, bytes = 16.0 * (double)n;
  void (*call)(void) = call_zaxpy;
  if (strncmp(operation, "zgemv", 5) == 0) {
    trans = operation[5];
    a = new_matrix(m, n, trans), x = new_vector(trans == 'N' ? n : m), y = new_vector(trans == 'N' ? m : n);
    for (long i = 0; i < a.count; i++)
      for (long j = 0; j < n; j++) a.data[i * a.row_step + j * a.column_step] = a_of(a.first + i, j);
    flops *= (double)m, bytes *= (double)m;
    call = call_zgemv;
  } else {
    x = new_vector(n), y = new_vector(n);
  }
  fill(x, x_of), fill(y, y_of);
  wait_all();
  if (call == call_zgemv) check_zgemv();
  else check_vectors(operation);
  if (strcmp(operation, "zaxpy") == 0) bytes *= 3;
  if (strcmp(operation, "zdotc") == 0) call = call_zdotc, bytes *= 2;
  if (strcmp(operation, "dznrm2") == 0) call = call_dznrm2, flops /= 2;
  const double seconds = time_of(call);
  if (is_first())
    printf("{\"seconds\": %.9g, \"mflops\": %.6g, \"gbytes\": %.6g}\n", seconds, 1e-6 * flops / seconds,
           1e-9 * bytes / seconds);
  stop();
  return 0;
}
