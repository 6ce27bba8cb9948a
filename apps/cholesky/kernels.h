/* kernels.h: the four operations of the tiled Cholesky factorisation, by BLAS and LAPACK, on tiles in column-major
 * order whose columns lie `lead` numbers apart. C and C++.
 *
 * Many threads may call them at once, on tiles that nobody else writes. They use as many threads as the BLAS has been
 * told: kernels_threads(1) once, before the threads of the program call the rest. */
#ifndef CHOLESKY_KERNELS_H
#define CHOLESKY_KERNELS_H

#include <cblas.h>

#ifdef __cplusplus
extern "C" {
#endif
void dpotrf_(const char* half, const int* order, double* a, const int* lead, int* info); /* LAPACK has no C header */
#ifdef __cplusplus
}
#endif

static inline void kernels_threads(int threads) { openblas_set_num_threads(threads); }

/* a = the lower Cholesky factor of a. Returns 0, or the order of the first leading minor that is not positive. */
static inline int kernel_potrf(int n, double* a, int lead_a) {
  int info = 0;
  dpotrf_("L", &n, a, &lead_a, &info);
  return info;
}

/* b = b * inverse(transposed(l)); l is n x n and lower triangular, b is m x n. */
static inline void kernel_trsm(int m, int n, const double* l, int lead_l, double* b, int lead_b) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, l, lead_l, b, lead_b);
}

/* The lower half of c -= a * transposed(a); c is n x n, a is n x k. */
static inline void kernel_syrk(int n, int k, const double* a, int lead_a, double* c, int lead_c) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1, a, lead_a, 1, c, lead_c);
}

/* c -= a * transposed(b); c is m x n, a is m x k, b is n x k. */
static inline void kernel_gemm(int m, int n, int k, const double* a, int lead_a, const double* b, int lead_b, double* c,
                               int lead_c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, -1, a, lead_a, b, lead_b, 1, c, lead_c);
}

#endif
