#include "transport/strided.hpp"

#include <cstring>

namespace hiroba {

size_t bytes_of(const Strided& box) {
  size_t bytes = box.block_bytes;
  for (int d = 0; d < box.dims; ++d) bytes *= box.count[d];
  return bytes;
}

Strides dense(const Strided& box) {
  Strides strides = {};
  auto stride = static_cast<ptrdiff_t>(box.block_bytes);
  for (int d = box.dims - 1; d >= 0; --d) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= static_cast<ptrdiff_t>(box.count[d]);
  }
  return strides;
}

namespace {

template <size_t bytes>
void copy_blocks(char* to, ptrdiff_t to_stride, const char* from, ptrdiff_t from_stride, size_t count) {
  for (size_t i = 0; i < count; ++i, to += to_stride, from += from_stride) std::memcpy(to, from, bytes);
}

// The sizes of numbers are known to the compiler: a load and a store each.
void copy_line(char* to, ptrdiff_t to_stride, const char* from, ptrdiff_t from_stride, size_t count, size_t block) {
  const auto size = static_cast<ptrdiff_t>(block);
  if (to_stride == size && from_stride == size) {
    std::memcpy(to, from, count * block);
    return;
  }
  switch (block) {
    case 1: return copy_blocks<1>(to, to_stride, from, from_stride, count);
    case 2: return copy_blocks<2>(to, to_stride, from, from_stride, count);
    case 4: return copy_blocks<4>(to, to_stride, from, from_stride, count);
    case 8: return copy_blocks<8>(to, to_stride, from, from_stride, count);
    case 16: return copy_blocks<16>(to, to_stride, from, from_stride, count);
    default:
      for (size_t i = 0; i < count; ++i, to += to_stride, from += from_stride) std::memcpy(to, from, block);
  }
}

}  // namespace

void copy_box(char* to, const ptrdiff_t* to_stride, const char* from, const ptrdiff_t* from_stride,
              const Strided& box) {
  if (bytes_of(box) == 0) return;
  if (box.dims == 0) {
    std::memcpy(to, from, box.block_bytes);
    return;
  }
  const int inner = box.dims - 1;
  size_t index[Strided::max_dims] = {};
  for (;;) {
    ptrdiff_t at = 0, source = 0;
    for (int d = 0; d < inner; ++d) {
      at += static_cast<ptrdiff_t>(index[d]) * to_stride[d];
      source += static_cast<ptrdiff_t>(index[d]) * from_stride[d];
    }
    copy_line(to + at, to_stride[inner], from + source, from_stride[inner], box.count[inner], box.block_bytes);
    int d = inner - 1;
    while (d >= 0 && ++index[d] == box.count[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace hiroba
