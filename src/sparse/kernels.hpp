// Products of sparse blocks with vectors in private memory: they take all of this floor's time. Compiled once per kind
// of processor, as linear/kernels.hpp.
//
// Pure; safe in any thread. Each result has a fixed order of operations on its own row, for any other rows in the same
// call.
#pragma once

#include <cstdint>

namespace hiroba {

// Rows of entries, in memory of an owner. CSR: row i has the entries [start[i], start[i + 1]). SELL-C-sigma: a slice is
// C rows; slice s has the entries [start[s], start[s + 1]), entry k of all its rows beside each other; shorter rows end
// with zeros. Row i gives result to[i], or i without a table.
template <typename T>
struct SparseRows {
  int64_t rows = 0;
  const int64_t* start = nullptr;
  const int32_t* column = nullptr;
  const T* value = nullptr;
  const int32_t* to = nullptr;
};

template <typename T>
constexpr int64_t slice_rows = 64 / sizeof(T);  // a vector of the widest processors

template <typename T>
struct SparseKernels {
  // y = A x for rows, or slices, [begin, end); y += A x if `add`.
  void (*csr)(const SparseRows<T>& a, int64_t begin, int64_t end, const T* x, T* y, bool add);
  void (*sell)(const SparseRows<T>& a, int64_t begin, int64_t end, const T* x, T* y, bool add);
  void (*multiply)(int64_t n, const T* d, const T* x, T* y);  // y[i] = d[i] x[i]
};

template <typename T>
const SparseKernels<T>& sparse_kernels();

}  // namespace hiroba
