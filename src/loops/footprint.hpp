// The memory that iterations of a loop use, as sections, and the division of iterations among workers by their speed:
// for loops on devices, whose data is moved. Values and arithmetic; nothing here blocks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "loops/view.hpp"
#include "section/section.hpp"

namespace hiroba {

// An access as the program declares it, of any memory: index d is low[d]..high[d] plus the sum of factor[d][k] * v[k].
struct PlainAccess {
  int flags = 0;  // Access::Flag
  const char* text = "";
  char* base = nullptr;  // the element whose indices are all 0
  int dims = 0;
  int64_t element = 0;                                           // bytes
  std::array<int64_t, View::most_dims> stride{}, low{}, high{};  // stride: bytes
  std::array<std::array<int64_t, View::most_loops>, View::most_dims> factor{};
};

// The memory of some iterations. `whole`: contiguous memory, of which no two overlap, and in which all else lies.
// `used`: what the iterations touch, by rows or columns, so that it has little beside that; access i is to used[in[i]].
// `written`: what other iterations of the outermost loop do not write.
struct Footprint {
  using Box = SectionOf<3>;
  std::vector<Box> whole, used, written;
  std::vector<size_t> in;
};

// Fails if different iterations of the outermost loop may write the same rows, or what they write is no section.
Status check_separate(std::span<const PlainAccess> accesses, std::span<const Values> loops);
// `loops` are those of some iterations, of which each loop has at least one. Requires accesses that are separate.
Footprint footprint_of(std::span<const PlainAccess> accesses, std::span<const Values> loops);

// The shares of workers of one loop, which is executed again and again. They change only if that is worth it, because
// data moves with them.
class SpeedShares {
 public:
  explicit SpeedShares(size_t workers) : share_(workers, 1 / static_cast<double>(workers)), speed_(workers) {}
  // Worker k has the iterations from bound k to bound k + 1. With enough iterations each has some.
  std::vector<int64_t> bounds(int64_t iterations) const;
  // Tells what each has done, and how long it took.
  void measured(std::span<const int64_t> iterations, std::span<const double> seconds);

 private:
  std::vector<double> share_, speed_;  // of the sum; iterations a second, 0: not known yet
};

}  // namespace hiroba
