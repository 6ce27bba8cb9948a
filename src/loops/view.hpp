// The accesses of a loop to a shared array, as affine functions of the loop's variables; and arithmetic on intervals.
// Values; the memory floor owns the array. Nothing here blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/division.hpp"
#include "memory/memory.hpp"

namespace hiroba {

struct Interval {
  int64_t begin, end;  // [begin, end)
  bool empty() const { return begin >= end; }
};

inline Interval intersection(Interval a, Interval b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

// The values of a loop variable: first, first + step, .. below end; or above end, if step < 0.
struct Values {
  int64_t first, end, step;
  bool operator==(const Values&) const = default;
};

// Return the number of values of a loop with step > 0; and the first of them at `at` or after it.
inline int64_t count_of(const Values& v) { return std::max<int64_t>(0, ceil_div(v.end - v.first, v.step)); }
inline int64_t on_grid(int64_t first, int64_t at, int64_t step) { return first + ceil_div(at - first, step) * step; }

// Subscripts in an array's own dimensions: index d is low[d]..high[d] plus the sum of factor[d][k] * v[k]. If the
// program's type has other extents than the array, it is an array of bytes of one dimension.
struct View {
  static constexpr int most_dims = 8, most_loops = 8;
  Array* array = nullptr;
  bool exact = false;
  int dims = 0;
  int64_t extent[most_dims], stride[most_dims];  // elements, bytes
  int64_t low[most_dims], high[most_dims];
  int64_t factor[most_dims][most_loops];
};

// An access in a loop.
struct Access {
  enum Flag {
    reads = 1,
    writes = 2,
    owns = 4,      // the home of this element computes the iteration
    perhaps = 8,   // may not occur in every iteration
    anywhere = 16  // unknown subscripts
  };
  int flags;
  const char* text;  // "src[z-1][y][x]", for messages; outlives the loop
  View view;         // array null: in no shared array
};

}  // namespace hiroba
