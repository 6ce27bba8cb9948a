// Finds the pages that a section of an array lies in. Pure arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "memory/array.hpp"

namespace hiroba {

// Fails if the section, a range for each dimension, goes past the array. Sets `empty` if it has no element.
Status check_section(const Array& array, std::span<const Range> section, bool& empty);

// Calls visit(first page, end page) for the runs of pages of a section that has elements, each page once, in order.
// Parts of it at most `gap` bytes apart count together with the bytes between them. A dimension that is taken whole
// forms one run of bytes with the next outer one.
template <typename Visit>
void for_each_page_run(const Array& array, std::span<const Range> section, int64_t gap, const Visit& visit) {
  const Distribution& d = array.distribution;
  const auto page_of = [&array](int64_t byte) {
    const auto start = static_cast<int64_t>(reinterpret_cast<uintptr_t>(array.data) % page_bytes);
    return array.first_page + (static_cast<uint64_t>(byte + start) >> page_shift);
  };
  int inner = d.dims() - 1;
  auto stride = static_cast<int64_t>(d.element_bytes());  // bytes from one index of `inner` to the next
  while (inner > 0 && section[static_cast<size_t>(inner)].length == d.dim(inner)) stride *= d.dim(inner--);
  const Range& run = section[static_cast<size_t>(inner)];
  const bool solid = run.step == 1 || run.step * stride <= gap;
  const int outer = solid ? inner : inner + 1;  // dimensions [0, outer) are walked index by index
  const int64_t run_bytes = solid ? ((run.length - 1) * run.step + 1) * stride : stride;
  std::array<int64_t, Distribution::max_dims> index{};
  uint64_t next = 0;  // pages below this are done
  for (;;) {
    int64_t offset = solid ? run.base * stride : 0, step = stride;
    for (int i = inner; i >= 0; --i) {
      const Range& r = section[static_cast<size_t>(i)];
      if (i < outer) offset += (r.base + index[static_cast<size_t>(i)] * r.step) * step;
      step *= d.dim(i);
    }
    const uint64_t first = std::max(next, page_of(offset)), end = page_of(offset + run_bytes - 1) + 1;
    if (end > first) visit(first, end);
    next = std::max(next, end);
    int i = outer - 1;
    while (i >= 0 && ++index[static_cast<size_t>(i)] == section[static_cast<size_t>(i)].length)
      index[static_cast<size_t>(i--)] = 0;
    if (i < 0) return;
  }
}

}  // namespace hiroba
