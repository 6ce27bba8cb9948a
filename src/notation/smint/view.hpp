// An affine access (smint.h) as it lies in a shared array: the array, and its subscripts in the array's own dimensions.
// A value that belongs to whoever asked for it; the array is the memory floor's. Nothing here blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "memory/memory.hpp"
#include "smint.h"

namespace hiroba {

struct Interval {
  int64_t begin, end;  // [begin, end)
  bool empty() const { return begin >= end; }
};

inline Interval meet(Interval a, Interval b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

// How many values a loop with step > 0 has; and the first of them at or behind `at`.
inline int64_t count_of(const smint_values& v) { return std::max<int64_t>(0, ceil_div(v.end - v.first, v.step)); }
inline int64_t on_grid(int64_t first, int64_t at, int64_t step) { return first + ceil_div(at - first, step) * step; }

// If the program's type has other extents than the array, it is an array of bytes of one dimension.
struct View {
  Array* array = nullptr;
  bool exact = false;
  int dims = 0;
  int64_t extent[SMINT_DIMS], stride[SMINT_DIMS];  // elements, bytes
  int64_t low[SMINT_DIMS], high[SMINT_DIMS];       // as in smint_access
  int64_t factor[SMINT_DIMS][SMINT_LOOPS];
};

// False if the access is to no shared array.
bool view_of(const Memory& memory, const smint_access& access, View& view);

}  // namespace hiroba
