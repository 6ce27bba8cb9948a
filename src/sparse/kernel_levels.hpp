// The kernels of each kind of processor that they are compiled for. Constants.
#pragma once

#include <complex>

#include "sparse/kernels.hpp"

namespace hiroba {

struct SparseKernelTables {
  SparseKernels<float> s;
  SparseKernels<double> d;
  SparseKernels<std::complex<float>> c;
  SparseKernels<std::complex<double>> z;
};

extern const SparseKernelTables sparse_kernels_base;
#if defined(__x86_64__)
extern const SparseKernelTables sparse_kernels_v3, sparse_kernels_v4;
#endif

}  // namespace hiroba
