// Divides whole numbers, also negative ones, and rounds to one side. Requires b != 0.
#pragma once

#include <cstdint>

namespace hiroba {

inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

// The width of a block, where `extent` indices are divided among pieces in order: the rule of arrays, loops, templates
// and rows of matrices. The last pieces may have fewer, or none.
inline int64_t block_width(int64_t extent, int64_t pieces) {
  const int64_t width = ceil_div(extent, pieces);
  return width < 1 ? 1 : width;
}

}  // namespace hiroba
