#include "transport/strided.hpp"

#include <cstring>

#include "base/rows.hpp"

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
    copy_row(to + at, from + source, box.block_bytes, static_cast<int64_t>(box.count[inner]), to_stride[inner],
             from_stride[inner]);
    int d = inner - 1;
    while (d >= 0 && ++index[d] == box.count[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace hiroba
