/* blas.h: BLAS on vectors and matrices in shared arrays, by all ranks together.
 *
 * Names, arguments and meaning are those of CBLAS, with hiroba_ instead of cblas_, and sizes of 64 bits. Vectors and
 * matrices are in shared arrays (sms_alloc, sms_mapalloc: sms.h), distributed in any way, equal or not; also rows,
 * columns and parts of them. libhiroba_blas is for private memory. docs/linear.md teaches them.
 *
 * Collective: all ranks make the call, in the same order with the same arguments, by one thread each, while no other
 * thread of the rank accesses shared memory, and no tasks are under way.
 * Division of the work: each rank computes the elements that it owns of the vector or matrix that is written; in sums
 * and in gemv, of the one that is read. OMP_NUM_THREADS (hirobarun --threads) is the number of threads of a rank.
 * Order: calls follow each other as the statements of one program; if a rank reads elements that others have written in
 * an earlier call, the call itself begins with a barrier. Between calls and the program's own loads and stores of
 * elements of other ranks there must be an sms_barrier, as between any two of these. Results: sums are the same on all
 * ranks, and have the same bits in every run with the same number of ranks on processors of the same kind, for any
 * number of threads; with hirobarun --reproducible for any number of ranks. Errors: misuse ends the job with one
 * message.
 *
 * hiroba_NAME blocks. hiroba_NAME_start computes this rank's part, starts the operations between ranks, and returns;
 * hiroba_wait (collective.h) completes the result. Until then the program must not use the operands, and afterwards an
 * sms_barrier must come before a rank reads elements of others in a vector that was written so.
 */
#ifndef HIROBA_BLAS_H
#define HIROBA_BLAS_H

#include <stdint.h>
#include "collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of cblas.h; its names are also valid. */
enum { HIROBA_ROW_MAJOR = 101, HIROBA_COL_MAJOR = 102 };
enum { HIROBA_NO_TRANS = 111, HIROBA_TRANS = 112, HIROBA_CONJ_TRANS = 113 };

/* Declares the blocking form and the started one. */
#define HIROBA_BLAS(name, ...)     \
  void hiroba_##name(__VA_ARGS__); \
  void hiroba_##name##_start(__VA_ARGS__, hiroba_request* request);
/* The same for functions that return a number, which the started form stores in *result. */
#define HIROBA_BLAS_SUM(type, name, ...) \
  type hiroba_##name(__VA_ARGS__);       \
  void hiroba_##name##_start(__VA_ARGS__, type* result, hiroba_request* request);

/* y = alpha x + y */
HIROBA_BLAS(saxpy, int64_t n, float alpha, const float* x, int64_t incx, float* y, int64_t incy)
HIROBA_BLAS(daxpy, int64_t n, double alpha, const double* x, int64_t incx, double* y, int64_t incy)
HIROBA_BLAS(caxpy, int64_t n, const void* alpha, const void* x, int64_t incx, void* y, int64_t incy)
HIROBA_BLAS(zaxpy, int64_t n, const void* alpha, const void* x, int64_t incx, void* y, int64_t incy)
/* y = x */
HIROBA_BLAS(scopy, int64_t n, const float* x, int64_t incx, float* y, int64_t incy)
HIROBA_BLAS(dcopy, int64_t n, const double* x, int64_t incx, double* y, int64_t incy)
HIROBA_BLAS(ccopy, int64_t n, const void* x, int64_t incx, void* y, int64_t incy)
HIROBA_BLAS(zcopy, int64_t n, const void* x, int64_t incx, void* y, int64_t incy)
/* x = alpha x */
HIROBA_BLAS(sscal, int64_t n, float alpha, float* x, int64_t incx)
HIROBA_BLAS(dscal, int64_t n, double alpha, double* x, int64_t incx)
HIROBA_BLAS(cscal, int64_t n, const void* alpha, void* x, int64_t incx)
HIROBA_BLAS(zscal, int64_t n, const void* alpha, void* x, int64_t incx)
HIROBA_BLAS(csscal, int64_t n, float alpha, void* x, int64_t incx)
HIROBA_BLAS(zdscal, int64_t n, double alpha, void* x, int64_t incx)
/* The sum of x y; dotc: of conj(x) y, in *result. */
HIROBA_BLAS_SUM(float, sdot, int64_t n, const float* x, int64_t incx, const float* y, int64_t incy)
HIROBA_BLAS_SUM(double, ddot, int64_t n, const double* x, int64_t incx, const double* y, int64_t incy)
HIROBA_BLAS(cdotu_sub, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy, void* result)
HIROBA_BLAS(cdotc_sub, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy, void* result)
HIROBA_BLAS(zdotu_sub, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy, void* result)
HIROBA_BLAS(zdotc_sub, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy, void* result)
/* The Euclidean norm. It neither overflows nor underflows where the result does not. */
HIROBA_BLAS_SUM(float, snrm2, int64_t n, const float* x, int64_t incx)
HIROBA_BLAS_SUM(double, dnrm2, int64_t n, const double* x, int64_t incx)
HIROBA_BLAS_SUM(float, scnrm2, int64_t n, const void* x, int64_t incx)
HIROBA_BLAS_SUM(double, dznrm2, int64_t n, const void* x, int64_t incx)
/* The sum of |re| + |im|. */
HIROBA_BLAS_SUM(float, sasum, int64_t n, const float* x, int64_t incx)
HIROBA_BLAS_SUM(double, dasum, int64_t n, const double* x, int64_t incx)
HIROBA_BLAS_SUM(float, scasum, int64_t n, const void* x, int64_t incx)
HIROBA_BLAS_SUM(double, dzasum, int64_t n, const void* x, int64_t incx)
/* y = alpha op(A) x + beta y; A has m rows and n columns. */
HIROBA_BLAS(sgemv, int order, int trans, int64_t m, int64_t n, float alpha, const float* a, int64_t lda, const float* x,
            int64_t incx, float beta, float* y, int64_t incy)
HIROBA_BLAS(dgemv, int order, int trans, int64_t m, int64_t n, double alpha, const double* a, int64_t lda,
            const double* x, int64_t incx, double beta, double* y, int64_t incy)
HIROBA_BLAS(cgemv, int order, int trans, int64_t m, int64_t n, const void* alpha, const void* a, int64_t lda,
            const void* x, int64_t incx, const void* beta, void* y, int64_t incy)
HIROBA_BLAS(zgemv, int order, int trans, int64_t m, int64_t n, const void* alpha, const void* a, int64_t lda,
            const void* x, int64_t incx, const void* beta, void* y, int64_t incy)
/* A = alpha x y^T + A; gerc: with conj(y). */
HIROBA_BLAS(sger, int order, int64_t m, int64_t n, float alpha, const float* x, int64_t incx, const float* y,
            int64_t incy, float* a, int64_t lda)
HIROBA_BLAS(dger, int order, int64_t m, int64_t n, double alpha, const double* x, int64_t incx, const double* y,
            int64_t incy, double* a, int64_t lda)
HIROBA_BLAS(cgeru, int order, int64_t m, int64_t n, const void* alpha, const void* x, int64_t incx, const void* y,
            int64_t incy, void* a, int64_t lda)
HIROBA_BLAS(cgerc, int order, int64_t m, int64_t n, const void* alpha, const void* x, int64_t incx, const void* y,
            int64_t incy, void* a, int64_t lda)
HIROBA_BLAS(zgeru, int order, int64_t m, int64_t n, const void* alpha, const void* x, int64_t incx, const void* y,
            int64_t incy, void* a, int64_t lda)
HIROBA_BLAS(zgerc, int order, int64_t m, int64_t n, const void* alpha, const void* x, int64_t incx, const void* y,
            int64_t incy, void* a, int64_t lda)
#undef HIROBA_BLAS
#undef HIROBA_BLAS_SUM

/* ---- where calls are, for messages -------------------------------------------------------------------------- */

#ifndef HIROBA_NO_PLACES
#define hiroba_saxpy(...) HIROBA_HERE(hiroba_saxpy(__VA_ARGS__))
#define hiroba_saxpy_start(...) HIROBA_HERE(hiroba_saxpy_start(__VA_ARGS__))
#define hiroba_daxpy(...) HIROBA_HERE(hiroba_daxpy(__VA_ARGS__))
#define hiroba_daxpy_start(...) HIROBA_HERE(hiroba_daxpy_start(__VA_ARGS__))
#define hiroba_caxpy(...) HIROBA_HERE(hiroba_caxpy(__VA_ARGS__))
#define hiroba_caxpy_start(...) HIROBA_HERE(hiroba_caxpy_start(__VA_ARGS__))
#define hiroba_zaxpy(...) HIROBA_HERE(hiroba_zaxpy(__VA_ARGS__))
#define hiroba_zaxpy_start(...) HIROBA_HERE(hiroba_zaxpy_start(__VA_ARGS__))
#define hiroba_scopy(...) HIROBA_HERE(hiroba_scopy(__VA_ARGS__))
#define hiroba_scopy_start(...) HIROBA_HERE(hiroba_scopy_start(__VA_ARGS__))
#define hiroba_dcopy(...) HIROBA_HERE(hiroba_dcopy(__VA_ARGS__))
#define hiroba_dcopy_start(...) HIROBA_HERE(hiroba_dcopy_start(__VA_ARGS__))
#define hiroba_ccopy(...) HIROBA_HERE(hiroba_ccopy(__VA_ARGS__))
#define hiroba_ccopy_start(...) HIROBA_HERE(hiroba_ccopy_start(__VA_ARGS__))
#define hiroba_zcopy(...) HIROBA_HERE(hiroba_zcopy(__VA_ARGS__))
#define hiroba_zcopy_start(...) HIROBA_HERE(hiroba_zcopy_start(__VA_ARGS__))
#define hiroba_sscal(...) HIROBA_HERE(hiroba_sscal(__VA_ARGS__))
#define hiroba_sscal_start(...) HIROBA_HERE(hiroba_sscal_start(__VA_ARGS__))
#define hiroba_dscal(...) HIROBA_HERE(hiroba_dscal(__VA_ARGS__))
#define hiroba_dscal_start(...) HIROBA_HERE(hiroba_dscal_start(__VA_ARGS__))
#define hiroba_cscal(...) HIROBA_HERE(hiroba_cscal(__VA_ARGS__))
#define hiroba_cscal_start(...) HIROBA_HERE(hiroba_cscal_start(__VA_ARGS__))
#define hiroba_zscal(...) HIROBA_HERE(hiroba_zscal(__VA_ARGS__))
#define hiroba_zscal_start(...) HIROBA_HERE(hiroba_zscal_start(__VA_ARGS__))
#define hiroba_csscal(...) HIROBA_HERE(hiroba_csscal(__VA_ARGS__))
#define hiroba_csscal_start(...) HIROBA_HERE(hiroba_csscal_start(__VA_ARGS__))
#define hiroba_zdscal(...) HIROBA_HERE(hiroba_zdscal(__VA_ARGS__))
#define hiroba_zdscal_start(...) HIROBA_HERE(hiroba_zdscal_start(__VA_ARGS__))
#define hiroba_sdot(...) HIROBA_HERE(hiroba_sdot(__VA_ARGS__))
#define hiroba_sdot_start(...) HIROBA_HERE(hiroba_sdot_start(__VA_ARGS__))
#define hiroba_ddot(...) HIROBA_HERE(hiroba_ddot(__VA_ARGS__))
#define hiroba_ddot_start(...) HIROBA_HERE(hiroba_ddot_start(__VA_ARGS__))
#define hiroba_cdotu_sub(...) HIROBA_HERE(hiroba_cdotu_sub(__VA_ARGS__))
#define hiroba_cdotu_sub_start(...) HIROBA_HERE(hiroba_cdotu_sub_start(__VA_ARGS__))
#define hiroba_cdotc_sub(...) HIROBA_HERE(hiroba_cdotc_sub(__VA_ARGS__))
#define hiroba_cdotc_sub_start(...) HIROBA_HERE(hiroba_cdotc_sub_start(__VA_ARGS__))
#define hiroba_zdotu_sub(...) HIROBA_HERE(hiroba_zdotu_sub(__VA_ARGS__))
#define hiroba_zdotu_sub_start(...) HIROBA_HERE(hiroba_zdotu_sub_start(__VA_ARGS__))
#define hiroba_zdotc_sub(...) HIROBA_HERE(hiroba_zdotc_sub(__VA_ARGS__))
#define hiroba_zdotc_sub_start(...) HIROBA_HERE(hiroba_zdotc_sub_start(__VA_ARGS__))
#define hiroba_snrm2(...) HIROBA_HERE(hiroba_snrm2(__VA_ARGS__))
#define hiroba_snrm2_start(...) HIROBA_HERE(hiroba_snrm2_start(__VA_ARGS__))
#define hiroba_dnrm2(...) HIROBA_HERE(hiroba_dnrm2(__VA_ARGS__))
#define hiroba_dnrm2_start(...) HIROBA_HERE(hiroba_dnrm2_start(__VA_ARGS__))
#define hiroba_scnrm2(...) HIROBA_HERE(hiroba_scnrm2(__VA_ARGS__))
#define hiroba_scnrm2_start(...) HIROBA_HERE(hiroba_scnrm2_start(__VA_ARGS__))
#define hiroba_dznrm2(...) HIROBA_HERE(hiroba_dznrm2(__VA_ARGS__))
#define hiroba_dznrm2_start(...) HIROBA_HERE(hiroba_dznrm2_start(__VA_ARGS__))
#define hiroba_sasum(...) HIROBA_HERE(hiroba_sasum(__VA_ARGS__))
#define hiroba_sasum_start(...) HIROBA_HERE(hiroba_sasum_start(__VA_ARGS__))
#define hiroba_dasum(...) HIROBA_HERE(hiroba_dasum(__VA_ARGS__))
#define hiroba_dasum_start(...) HIROBA_HERE(hiroba_dasum_start(__VA_ARGS__))
#define hiroba_scasum(...) HIROBA_HERE(hiroba_scasum(__VA_ARGS__))
#define hiroba_scasum_start(...) HIROBA_HERE(hiroba_scasum_start(__VA_ARGS__))
#define hiroba_dzasum(...) HIROBA_HERE(hiroba_dzasum(__VA_ARGS__))
#define hiroba_dzasum_start(...) HIROBA_HERE(hiroba_dzasum_start(__VA_ARGS__))
#define hiroba_sgemv(...) HIROBA_HERE(hiroba_sgemv(__VA_ARGS__))
#define hiroba_sgemv_start(...) HIROBA_HERE(hiroba_sgemv_start(__VA_ARGS__))
#define hiroba_dgemv(...) HIROBA_HERE(hiroba_dgemv(__VA_ARGS__))
#define hiroba_dgemv_start(...) HIROBA_HERE(hiroba_dgemv_start(__VA_ARGS__))
#define hiroba_cgemv(...) HIROBA_HERE(hiroba_cgemv(__VA_ARGS__))
#define hiroba_cgemv_start(...) HIROBA_HERE(hiroba_cgemv_start(__VA_ARGS__))
#define hiroba_zgemv(...) HIROBA_HERE(hiroba_zgemv(__VA_ARGS__))
#define hiroba_zgemv_start(...) HIROBA_HERE(hiroba_zgemv_start(__VA_ARGS__))
#define hiroba_sger(...) HIROBA_HERE(hiroba_sger(__VA_ARGS__))
#define hiroba_sger_start(...) HIROBA_HERE(hiroba_sger_start(__VA_ARGS__))
#define hiroba_dger(...) HIROBA_HERE(hiroba_dger(__VA_ARGS__))
#define hiroba_dger_start(...) HIROBA_HERE(hiroba_dger_start(__VA_ARGS__))
#define hiroba_cgeru(...) HIROBA_HERE(hiroba_cgeru(__VA_ARGS__))
#define hiroba_cgeru_start(...) HIROBA_HERE(hiroba_cgeru_start(__VA_ARGS__))
#define hiroba_cgerc(...) HIROBA_HERE(hiroba_cgerc(__VA_ARGS__))
#define hiroba_cgerc_start(...) HIROBA_HERE(hiroba_cgerc_start(__VA_ARGS__))
#define hiroba_zgeru(...) HIROBA_HERE(hiroba_zgeru(__VA_ARGS__))
#define hiroba_zgeru_start(...) HIROBA_HERE(hiroba_zgeru_start(__VA_ARGS__))
#define hiroba_zgerc(...) HIROBA_HERE(hiroba_zgerc(__VA_ARGS__))
#define hiroba_zgerc_start(...) HIROBA_HERE(hiroba_zgerc_start(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
