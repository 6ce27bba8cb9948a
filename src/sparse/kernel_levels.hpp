// The kernels of each kind of processor that they are compiled for. Constants.
#pragma once

#include "base/numbers.hpp"
#include "sparse/kernels.hpp"

namespace hiroba {

using SparseKernelTables = ForNumbers<SparseKernels>;
extern const SparseKernelTables sparse_kernels_base;
#if defined(__x86_64__)
extern const SparseKernelTables sparse_kernels_v3, sparse_kernels_v4;
#endif

}  // namespace hiroba
