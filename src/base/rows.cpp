#include "base/rows.hpp"

#include <cstring>

namespace hiroba {

namespace {

// Copies blocks of N bytes; ToStride or FromStride is 0 if it is known at run time only.
template <size_t N, int64_t ToStride, int64_t FromStride>
void copy_blocks(char* __restrict to, const char* __restrict from, int64_t count, int64_t to_stride,
                 int64_t from_stride) {
  if constexpr (ToStride != 0) to_stride = ToStride;
  if constexpr (FromStride != 0) from_stride = FromStride;
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, N);
}

template <size_t N>
void copy_row(char* to, const char* from, int64_t count, int64_t to_stride, int64_t from_stride) {
  constexpr int64_t n = N;
  if (to_stride == n && from_stride == 2 * n) return copy_blocks<N, n, 2 * n>(to, from, count, 0, 0);
  if (to_stride == 2 * n && from_stride == n) return copy_blocks<N, 2 * n, n>(to, from, count, 0, 0);
  if (to_stride == 2 * n && from_stride == 2 * n) return copy_blocks<N, 2 * n, 2 * n>(to, from, count, 0, 0);
  if (to_stride == n) return copy_blocks<N, n, 0>(to, from, count, 0, from_stride);
  if (from_stride == n) return copy_blocks<N, 0, n>(to, from, count, to_stride, 0);
  return copy_blocks<N, 0, 0>(to, from, count, to_stride, from_stride);
}

}  // namespace

void copy_row(char* to, const char* from, size_t block, int64_t count, int64_t to_stride, int64_t from_stride) {
  switch (block) {
    case 1: return copy_row<1>(to, from, count, to_stride, from_stride);
    case 2: return copy_row<2>(to, from, count, to_stride, from_stride);
    case 4: return copy_row<4>(to, from, count, to_stride, from_stride);
    case 8: return copy_row<8>(to, from, count, to_stride, from_stride);
    case 16: return copy_row<16>(to, from, count, to_stride, from_stride);
    default: break;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, block);
}

}  // namespace hiroba
