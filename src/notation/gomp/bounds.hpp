// Bounds of loops as GCC passes them.
#pragma once

#include <cstdint>

namespace hiroba::openmp {

using Ull = unsigned long long;

// A loop as GCC describes it, with an unsigned variable or a signed one.
struct Bounds {
  uint64_t start, end, step, iterations;
};

inline uint64_t count(uint64_t distance, uint64_t by) { return distance / by + (distance % by != 0 ? 1 : 0); }

inline Bounds bounds(long start, long end, long step) {
  const auto s = static_cast<uint64_t>(start), e = static_cast<uint64_t>(end), by = static_cast<uint64_t>(step);
  if (step > 0) return {s, e, by, start < end ? count(e - s, by) : 0};
  return {s, e, by, start > end ? count(s - e, -by) : 0};
}

inline Bounds bounds(bool up, Ull start, Ull end, Ull step) {
  if (up) return {start, end, step, start < end ? count(end - start, step) : 0};
  return {start, end, step, start > end ? count(start - end, -step) : 0};
}

}  // namespace hiroba::openmp
