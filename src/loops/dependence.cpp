// Tests if iterations of a loop use data that others write, for subscripts whose distance is known at run time only.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "loops/view.hpp"

namespace hiroba {

namespace {

constexpr int64_t most_tried = 4096;

// The inner loops' contribution to the difference of two indices: multiples of `step`, up to `most`.
struct Inner {
  int64_t most = 0, step = 0;

  Inner(const std::array<int64_t, View::most_loops>& factor, std::span<const int64_t> counts) {
    for (size_t k = 1; k < counts.size(); ++k) {
      if (counts[k] < 2) continue;
      most += std::abs(factor[k]) * (counts[k] - 1);
      step = std::gcd(step, std::abs(factor[k]));
    }
  }

  bool covers(int64_t difference) const {
    return std::abs(difference) <= most && (step == 0 ? difference == 0 : difference % step == 0);
  }
};

bool coincide(const Offset& offset, std::span<const int64_t> counts, int64_t distance) {
  for (int d = 0; d < offset.dims; ++d) {
    const auto& factor = offset.factor[static_cast<size_t>(d)];
    if (!Inner(factor, counts).covers(offset.apart[static_cast<size_t>(d)] - factor[0] * distance)) return false;
  }
  return true;
}

}  // namespace

int64_t carried_distance(const Offset& offset, std::span<const int64_t> counts) {
  if (std::any_of(counts.begin(), counts.end(), [](int64_t count) { return count < 1; })) return 0;
  int64_t low = -(counts[0] - 1), high = counts[0] - 1;
  for (int d = 0; d < offset.dims; ++d) {
    const auto& factor = offset.factor[static_cast<size_t>(d)];
    if (factor[0] == 0) continue;
    const int64_t most = Inner(factor, counts).most, by = std::abs(factor[0]);
    const int64_t apart = factor[0] > 0 ? offset.apart[static_cast<size_t>(d)] : -offset.apart[static_cast<size_t>(d)];
    low = std::max(low, -floor_div(most - apart, by));
    high = std::min(high, floor_div(apart + most, by));
  }
  high = std::min(high, low + most_tried);
  for (int64_t distance = low; distance <= high; ++distance)
    if (distance != 0 && coincide(offset, counts, distance)) return distance;
  return 0;
}

}  // namespace hiroba
