#include "template/axis.hpp"

#include <algorithm>

namespace hiroba {

Axis Axis::block(int64_t extent, int pieces, int64_t width) {
  if (width * pieces >= extent) return Axis(extent, pieces, width);
  std::vector<int64_t> cuts;
  for (int i = 0; i < pieces; ++i) cuts.push_back(i * width);
  cuts.push_back(extent);
  return cut(std::move(cuts));
}

Axis Axis::cut(std::vector<int64_t> cuts) {
  Axis out(cuts.back(), static_cast<int>(cuts.size()) - 1, 1);
  out.cuts_ = std::move(cuts);
  return out;
}

int Axis::owner(int64_t g) const {
  if (cuts_.empty()) return static_cast<int>(g % cycle() / width_);
  return static_cast<int>(std::upper_bound(cuts_.begin(), cuts_.end(), g) - cuts_.begin()) - 1;
}

void Axis::run_of(int64_t g, int64_t& begin, int64_t& end) const {
  if (!cuts_.empty()) {
    const int piece = owner(g);
    begin = cuts_[piece], end = cuts_[piece + 1];
    return;
  }
  begin = g / width_ * width_;
  end = std::min(begin + width_, extent_);
}

bool Axis::next_run(int piece, int64_t from, int64_t& begin, int64_t& end) const {
  from = std::max<int64_t>(from, 0);
  if (!cuts_.empty()) {
    begin = cuts_[piece], end = cuts_[piece + 1];
    return from < end && begin < end;
  }
  begin = from / cycle() * cycle() + piece * width_;
  if (from >= begin + width_) begin += cycle();
  end = std::min(begin + width_, extent_);
  return begin < end && from < end;
}

}  // namespace hiroba
