// Sums in an order that depends only on the length of the vector: it is cut into blocks, whose sums are added by pairs.
// So the number of threads, and of ranks that exchange the sums of blocks, does not change a bit. Values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "linear/consecutive.hpp"

namespace hiroba {

// The blocks of a vector of n elements.
struct SumBlocks {
  static constexpr int64_t least = 4096, most_blocks = 1024;
  int64_t n, size, count;
  explicit SumBlocks(int64_t length)
      : n(length), size(std::max(least, (length + most_blocks - 1) / most_blocks)), count((length + size - 1) / size) {}
  int64_t begin(int64_t block) const { return block * size; }
  int64_t end(int64_t block) const { return std::min(n, (block + 1) * size); }
};

// Numbers that are added together.
template <typename T, int count>
struct Numbers {
  T value[count] = {};
  Numbers& operator+=(const Numbers& other) {
    for (int i = 0; i < count; ++i) value[i] += other.value[i];
    return *this;
  }
};

// Adds sums[0], .., sums[count - 1], in place, into sums[0].
template <typename Sum>
void add_by_pairs(Sum* sums, int64_t count) {
  for (int64_t distance = 1; distance < count; distance *= 2)
    for (int64_t i = 0; i + distance < count; i += 2 * distance) sums[i] += sums[i + distance];
}

// A sum of squares that neither overflows nor underflows (J. L. Blue, A portable Fortran program to find the Euclidean
// norm of a vector, 1978): three sums, of squares of large numbers scaled down, of small ones scaled up, of the others.
template <typename R>
struct Squares {
  R big, medium, small;

  // Squares of numbers below `low` lose digits; the sum of those from `high` on may overflow.
  static constexpr R low = sizeof(R) == 8 ? R(0x1p-511) : R(0x1p-63), high = sizeof(R) == 8 ? R(0x1p486) : R(0x1p44);
  static constexpr R up = sizeof(R) == 8 ? R(0x1p537) : R(0x1p75), down = sizeof(R) == 8 ? R(0x1p-538) : R(0x1p-76);
  // A sum of squares between these has not overflowed, and its underflows are below its last digit.
  static constexpr R least = sizeof(R) == 8 ? R(0x1p-900) : R(0x1p-80), most = sizeof(R) == 8 ? R(0x1p972) : R(0x1p88);

  void add(R x) {
    const R a = std::fabs(x);
    if (a > high) big += (a * down) * (a * down);
    else if (a < low) small += (a * up) * (a * up);
    else medium += a * a;  // NaN, too
  }
  Squares& operator+=(const Squares& other) {
    big += other.big, medium += other.medium, small += other.small;
    return *this;
  }
  R root() const {
    if (big > 0 || std::isnan(big)) return std::sqrt(big + (medium * down) * down) / down;
    if (!(small > 0)) return std::sqrt(medium);
    const R a = std::sqrt(medium), b = std::sqrt(small) / up;
    if (medium == 0) return b;
    const R larger = a < b ? b : a, ratio = a < b ? a / b : b / a;
    return larger * std::sqrt(1 + ratio * ratio);
  }
};

}  // namespace hiroba
