/* The kernels that are run on every device: a matrix product, that of a library, and a copy with overlap, as
 * matrixMul, matrixMulCUBLAS and simpleMultiCopy of CUDA's examples. For host devices kernels_host.c has them, for GPUs
 * of NVIDIA kernels.cu. */
#ifndef SPREAD_KERNELS_H
#define SPREAD_KERNELS_H

#include <device.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels multiply n x n matrices of double: data is a, b, c. */
typedef struct {
  int64_t n;
} product_size;
extern const hiroba_kernel product_kernel, library_kernel;
/* data: x, y, of `count` numbers: y = 2 x + y, `times` times. */
typedef struct {
  int64_t count, times;
} update_size;
extern const hiroba_kernel update_kernel;

/* Returns NULL if library_kernel can run; else the reason why not. `out` gets the library's name. */
const char* find_library(const char** out);

#ifdef __cplusplus
}
#endif
#endif
