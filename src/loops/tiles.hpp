// The iterations of nested loops, cut into tiles, and the bytes that affine accesses touch in a tile, as boxes. Values
// and arithmetic; nothing here blocks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/view.hpp"
#include "section/section.hpp"

namespace hiroba {

// value + the sum of factor[k] * v[k], over the variables of the loops around.
struct Affine {
  int64_t value;
  std::array<int64_t, View::most_loops> factor;
};

// A loop variable: first, first + step, .. below end and limit; or above end, if step < 0. With `value` it is no loop,
// but value(data, v) for each v of the variable `of`, an earlier one.
struct Span {
  Affine first, end, limit;
  int64_t step;
  int64_t (*value)(const void* data, int64_t v) = nullptr;
  const void* data = nullptr;
  int of = 0;
};

// The values of a loop in a tile: from low to last, `step` apart. If it is not exact, some values of the outer
// variables have fewer of these. Empty: none for any of those.
struct TileRange {
  int64_t low, last, step;
  bool exact;
  bool empty() const { return last < low; }
  int64_t count() const { return (last - low) / step + 1; }
};
using TileRanges = std::array<TileRange, View::most_loops>;

// An access in bytes: `block` bytes at base + offset, and move[k] bytes further for each unit of variable k.
struct TileAccess {
  int flags;  // Access::Flag
  char* base;
  int64_t offset, block;
  std::array<int64_t, View::most_loops> move;
};

struct TileBox : SectionOf<3> {
  int flags = 0;      // reads, writes
  bool exact = true;  // every possible iteration touches its part, and there is no other byte
};

// Computes the values of all loops if the first `within.size()` variables are in these intervals; false: one of these
// loops has none. Loops inside them may be empty.
bool ranges_of(std::span<const Span> loops, std::span<const Interval> within, TileRanges& ranges);

// Computes the boxes that the accesses touch. Reads that differ by a few elements, as in a stencil, become one box, if
// possible the one that the same tile of another loop writes, and boxes along its borders.
void boxes_of(std::span<const TileAccess> accesses, std::span<const Span> loops, const TileRanges& ranges,
              std::vector<TileBox>& boxes);

}  // namespace hiroba
