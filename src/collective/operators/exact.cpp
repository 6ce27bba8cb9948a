// The order of operations is the algorithm: this file, as all of Hiroba, is compiled without -ffast-math.
#include "collective/operators/exact.hpp"

#include <cmath>
#include <utility>

namespace hiroba {

void ExactSum::add(double x) {
  special_ += x;
  if (x != 0 || !std::signbit(x)) zero_ = 0;
  if (!std::isfinite(x)) is_special_ = true;
  if (is_special_) return;
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    double y = parts_[i];
    if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
    const double high = x + y, low = y - (high - x);
    if (low != 0) parts_[kept++] = low;
    x = high;
  }
  if (!std::isfinite(x)) return void(is_special_ = true);  // the sum exceeds the largest number
  parts_[kept++] = x;
  count_ = kept;
}

double ExactSum::value() const {
  if (is_special_) return special_;
  if (count_ == 0) return zero_;
  int i = count_ - 1;
  double high = parts_[i], low = 0;
  while (i > 0) {
    const double x = high, y = parts_[--i];
    high = x + y;
    low = y - (high - x);
    if (low != 0) break;
  }
  // In half-way cases the next lower part decides.
  if (i > 0 && ((low < 0 && parts_[i - 1] < 0) || (low > 0 && parts_[i - 1] > 0))) {
    const double twice = low * 2, up = high + twice;
    if (twice == up - high) high = up;
  }
  return high == 0 ? zero_ : high;
}

}  // namespace hiroba
