// Copies between sections in memory, row by row.
#include <algorithm>
#include <cstring>

#include "base/rows.hpp"
#include "coarray/section.hpp"

namespace hiroba {

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
