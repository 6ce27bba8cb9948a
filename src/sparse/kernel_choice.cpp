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

template <>
const SparseKernels<float>& sparse_kernels() {
  return chosen().s;
}
template <>
const SparseKernels<double>& sparse_kernels() {
  return chosen().d;
}
template <>
const SparseKernels<std::complex<float>>& sparse_kernels() {
  return chosen().c;
}
template <>
const SparseKernels<std::complex<double>>& sparse_kernels() {
  return chosen().z;
}

}  // namespace hiroba
