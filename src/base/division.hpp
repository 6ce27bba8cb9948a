// Divides whole numbers, also negative ones, and rounds to one side. Requires b != 0.
#pragma once

#include <cstdint>

namespace hiroba {

inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

}  // namespace hiroba
