// Sections of arrays, and the pages that they lie in. Pure arithmetic.
#pragma once

#include <algorithm>
#include <span>

#include "memory/array.hpp"
#include "section/walk.hpp"

namespace hiroba {

// The section that a range for each dimension names; empty() if one of them has no element. An error if it goes past
// the array.
Status section_of(const Array& array, std::span<const Range> ranges, Section& out);

// visit(first page, end page) for the runs of pages of a section that has elements, each page once, in order. Blocks
// that begin at most `gap` bytes apart count together with what is between them. Requires positive strides, the largest
// first.
template <typename Visit>
void for_each_page_run(const Array& array, const Section& section, int64_t gap, const Visit& visit) {
  Section rows = simplified(section);
  if (const auto inner = static_cast<size_t>(rows.dims) - 1; rows.dims > 0 && rows.stride[inner] <= gap) {
    rows.bytes += static_cast<size_t>((rows.count[inner] - 1) * rows.stride[inner]);
    --rows.dims;
  }
  const auto page_of = [&array](const char* at) {
    return array.first_page + (reinterpret_cast<uintptr_t>(at) >> page_shift) -
           (reinterpret_cast<uintptr_t>(array.data) >> page_shift);
  };
  uint64_t next = 0;  // pages below this are done
  for_each_block(rows, [&](const char* block, size_t bytes) {
    const uint64_t first = std::max(next, page_of(block)), end = page_of(block + bytes - 1) + 1;
    if (end > first) visit(first, end);
    next = std::max(next, end);
  });
}

}  // namespace hiroba
