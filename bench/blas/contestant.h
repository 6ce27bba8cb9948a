/* What a contestant of bench/blas provides: its processes, where its part of vectors and matrices is, and the
 * operations on all of them. main.c checks and times them. Complex numbers of doubles; matrices have m rows and n
 * columns. */
#ifndef BENCH_BLAS_CONTESTANT_H
#define BENCH_BLAS_CONTESTANT_H

#include <complex.h>

typedef double complex number;

typedef struct vector {
  number* data; /* of this process: elements first .. first + count - 1 */
  long first, count, n;
  void* all; /* for the operations */
} vector;

typedef struct matrix {
  number* data; /* of this process: rows first .. first + count - 1 */
  long first, count, m, n;
  long row_step, column_step; /* element (i, j) of these is data[i * row_step + j * column_step] */
  void* all;
} matrix;

void start(int* argc, char*** argv);
void stop(void);
int is_first(void);
void wait_all(void);
double maximum(double seconds); /* over all processes */
vector new_vector(long n);
matrix new_matrix(long m, long n, char trans); /* for products of this kind */

void zaxpy(number a, vector x, vector y);
number zdotc(vector x, vector y);
double dznrm2(vector x);
void zgemv(char trans, number alpha, matrix a, vector x, number beta, vector y);

#endif
