// Sets of integers, for the elements of loops: first, first + step, .., each followed by the next `width` - 1 integers.
// Values; exact arithmetic, nothing overflows for elements of an array.
#pragma once

#include <cstdint>
#include <optional>

namespace hiroba {

struct Progression {
  int64_t first = 0, step = 1, count = 1, width = 1;  // step, count, width >= 1

  int64_t end() const { return first + (count - 1) * step + width; }  // after the last

  // Adds every member of {0, by, 2 * by, .. (times - 1) * by} to every member. Returns false if that is no progression:
  // then this one contains more members than the sum.
  bool spread(int64_t by, int64_t times);
};

// Returns the smallest integer that is in both.
std::optional<int64_t> common(const Progression& a, const Progression& b);

}  // namespace hiroba
