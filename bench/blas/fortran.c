/* One process with private memory: any library that has BLAS under Fortran's names. The matrix lies there by rows, as
 * that of hiroba.c, so to Fortran it is the transpose. For zgemvC, where that would have to be conjugated without being
 * transposed, which BLAS has not, it lies by columns. */
#include <stdlib.h>

#include "contestant.h"

void zaxpy_(const int* n, const number* a, const number* x, const int* incx, number* y, const int* incy);
number zdotc_(const int* n, const number* x, const int* incx, const number* y, const int* incy);
double dznrm2_(const int* n, const number* x, const int* incx);
void zgemv_(const char* trans, const int* m, const int* n, const number* alpha, const number* a, const int* lda,
            const number* x, const int* incx, const number* beta, number* y, const int* incy, size_t trans_length);

static const int one = 1;

void start(int* argc, char*** argv) { (void)argc, (void)argv; }
void stop(void) {}
int is_first(void) { return 1; }
void wait_all(void) {}
double maximum(double seconds) { return seconds; }

static number* memory(long count) {
  const size_t bytes = ((size_t)count * sizeof(number) + 4095) / 4096 * 4096;
  return aligned_alloc(4096, bytes); /* as shared arrays begin */
}
vector new_vector(long n) { return (vector){memory(n), 0, n, n, 0}; }
matrix new_matrix(long m, long n, char trans) {
  return (matrix){memory(m * n), 0, m, m, n, trans == 'C' ? 1 : n, trans == 'C' ? m : 1, 0};
}

void zaxpy(number a, vector x, vector y) {
  const int n = (int)x.n;
  zaxpy_(&n, &a, x.data, &one, y.data, &one);
}
number zdotc(vector x, vector y) {
  const int n = (int)x.n;
  return zdotc_(&n, x.data, &one, y.data, &one);
}
double dznrm2(vector x) {
  const int n = (int)x.n;
  return dznrm2_(&n, x.data, &one);
}
void zgemv(char trans, number alpha, matrix a, vector x, number beta, vector y) {
  const int m = (int)a.m, n = (int)a.n;
  const char op = trans == 'N' ? 'T' : trans == 'T' ? 'N' : 'C';
  const int lines = trans == 'C' ? n : m, line = trans == 'C' ? m : n;
  zgemv_(&op, &line, &lines, &alpha, a.data, &line, x.data, &one, &beta, y.data, &one, 1);
}
