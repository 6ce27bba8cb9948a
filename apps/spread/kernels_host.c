#include <dlfcn.h>
#include <stddef.h>

#include "kernels.h"

enum { BLOCK = 64 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void zero(double* c, int64_t count) {
  for (int64_t i = 0; i < count; ++i) c[i] = 0;
}

static int product(void* const* data, const void* argument, void* stream) {
  const int64_t n = ((const product_size*)argument)->n;
  const double* restrict const a = data[0], * restrict const b = data[1];
  double* restrict const c = data[2];
  (void)stream;
  zero(c, n * n);
  for (int64_t kk = 0; kk < n; kk += BLOCK)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = kk; k < least(n, kk + BLOCK); ++k)
        for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return 0;
}

typedef void (*dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                      const int*, const double*, const int*, const double*, double*, const int*);
static dgemm multiply;

const char* find_library(const char** out) {
  static const char* const names[] = {"libopenblas.so.0", "libblas.so.3", "libblas.so"};
  for (size_t i = 0; i < sizeof names / sizeof names[0] && multiply == NULL; ++i) {
    void* const library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    *out = names[i];
    if (library != NULL) multiply = (dgemm)dlsym(library, "dgemm_");
  }
  return multiply == NULL ? "there is neither OpenBLAS (libopenblas.so.0) nor another BLAS (libblas.so.3)" : NULL;
}

static int library(void* const* data, const void* argument, void* stream) {
  const int n = (int)((const product_size*)argument)->n;
  const double one = 1, nothing = 0;
  (void)stream;
  /* Matrices of Fortran are transposed: b a = (a b)^T. */
  multiply("N", "N", &n, &n, &n, &one, data[1], &n, data[0], &n, &nothing, data[2], &n);
  return 0;
}

static int update(void* const* data, const void* argument, void* stream) {
  const update_size size = *(const update_size*)argument;
  const double* restrict const x = data[0];
  double* restrict const y = data[1];
  (void)stream;
  for (int64_t t = 0; t < size.times; ++t)
    for (int64_t i = 0; i < size.count; ++i) y[i] += 2 * x[i];
  return 0;
}

const hiroba_kernel product_kernel = {"product", product, NULL};
const hiroba_kernel library_kernel = {"library product", library, NULL};
const hiroba_kernel update_kernel = {"update", update, NULL};
