// Copying between sections in memory: a loop over blocks for each size of block that the processor moves at once.
// Compiled for speed, see src/CMakeLists.txt: elements two apart, the usual case of a stride, become vector code.
#include <algorithm>
#include <cstring>

#include "coarray/section.hpp"

namespace hiroba {

namespace {

// Blocks of N bytes; ToStride or FromStride is 0 if it is known at run time only.
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

}  // namespace

void copy(char* to, const char* from, const Walk& walk) {
  if (walk.dims == 0) {
    std::memcpy(to, from, walk.block);
    return;
  }
  Walk rows = walk;
  const int inner = --rows.dims;
  rows.for_each_block([&](int64_t at_to, int64_t at_from) {
    copy_row(to + at_to, from + at_from, walk.block, walk.count[inner], walk.to[inner], walk.from[inner]);
  });
}

void gather(char* packed, const char* from, const Walk& walk, int64_t first, int64_t blocks) {
  const auto block = static_cast<int64_t>(walk.block);
  for_rows(walk, first, blocks, [&](int64_t at, int64_t row, int64_t stride) {
    copy_row(packed, from + at, walk.block, row, block, stride);
    packed += row * block;
  });
}

void fill(char* to, const Box& box, const void* value, size_t element) {
  Walk walk;
  Box one = box;  // the same element each time
  std::fill(one.stride, one.stride + one.dims, 0);
  if (!pair_up(box, one, element, walk)) return;
  copy(to, static_cast<const char*>(value), walk);
}

}  // namespace hiroba
