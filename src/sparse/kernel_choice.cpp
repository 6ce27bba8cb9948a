#include "sparse/kernel_levels.hpp"

#include "linear/linear.hpp"

namespace hiroba {

namespace {

const SparseKernelTables& chosen() {
#if defined(__x86_64__)
  if (kernels_level() == 4) return sparse_kernels_v4;
  if (kernels_level() == 3) return sparse_kernels_v3;
#endif
  return sparse_kernels_base;
}

}  // namespace

template <typename T>
const SparseKernels<T>& sparse_kernels() {
  return chosen().of<T>();
}
#define HIROBA_INSTANTIATE(T) template const SparseKernels<T>& sparse_kernels<T>();
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
