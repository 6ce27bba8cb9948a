// Copies of boxes of equal blocks within memory that this process reaches. Thread-safe; accesses only the blocks.
#pragma once

#include <array>
#include <cstddef>

#include "transport/transport.hpp"

namespace hiroba {

using Strides = std::array<ptrdiff_t, Strided::max_dims>;

size_t bytes_of(const Strided& box);

// Returns the strides of the box's blocks packed in C order.
Strides dense(const Strided& box);

void copy_box(char* to, const ptrdiff_t* to_stride, const char* from, const ptrdiff_t* from_stride, const Strided& box);

// Cuts a box along its dimensions into boxes of at most `most` bytes (or single blocks), and calls
// visit(part, local offset, remote offset) for each, in order.
template <typename Visit>
void for_each_part(const Strided& box, size_t most, const Visit& visit, ptrdiff_t local = 0, ptrdiff_t remote = 0) {
  if (bytes_of(box) == 0) return;
  int d = 0;
  while (d < box.dims && box.count[d] == 1) ++d;
  if (d == box.dims || bytes_of(box) <= most) return visit(box, local, remote);
  Strided part = box;
  const size_t each = bytes_of(box) / box.count[d], at_once = each >= most ? 1 : most / each;
  for (size_t i = 0; i < box.count[d]; i += at_once) {
    part.count[d] = i + at_once < box.count[d] ? at_once : box.count[d] - i;
    const auto n = static_cast<ptrdiff_t>(i);
    for_each_part(part, most, visit, local + n * box.local_stride[d], remote + n * box.remote_stride[d]);
  }
}

}  // namespace hiroba
