#include "loops/tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "loops/share.hpp"

namespace hiroba {

namespace {

constexpr int most = TileBox::most_dims;

struct Extremes {
  int64_t least, greatest;
};

Extremes extremes(const Affine& form, const TileRanges& ranges, size_t loops) {
  Extremes out = {form.value, form.value};
  for (size_t k = 0; k < loops; ++k) {
    const int64_t a = form.factor[k] * ranges[k].low, b = form.factor[k] * ranges[k].last;
    out.least += std::min(a, b), out.greatest += std::max(a, b);
  }
  return out;
}

bool uses_empty(const Affine& form, const TileRanges& ranges, size_t loops) {
  for (size_t k = 0; k < loops; ++k)
    if (form.factor[k] != 0 && ranges[k].empty()) return true;
  return false;
}

// Returns the range of a subscript over the values of a loop, from the least to the greatest, exact if `of` is exact.
TileRange made_of(const Span& made, const TileRange& of) {
  if (of.empty()) return {0, -1, 1, false};
  TileRange out = {far, -far, 1, false};
  for (int64_t v = of.low; v <= of.last; v += of.step) {
    const int64_t value = made.value(made.data, v);
    out.low = std::min(out.low, value), out.last = std::max(out.last, value);
  }
  out.exact = of.exact && out.low == out.last;
  return out;
}

// Computes the range of one loop, after those around it.
void range_of(const Span& loop, size_t k, Interval within, TileRanges& ranges) {
  ranges[k] = {0, -1, 1, false};
  for (const Affine& form : {loop.first, loop.end, loop.limit})
    if (uses_empty(form, ranges, k)) return;
  const Extremes first = extremes(loop.first, ranges, k), end = extremes(loop.end, ranges, k),
                 limit = extremes(loop.limit, ranges, k);
  const bool down = loop.step < 0;
  // The bounds of the lowest value, and of one more than the greatest: at least, at most.
  Extremes low = first, past = {std::min(end.least, limit.least), std::min(end.greatest, limit.greatest)};
  if (down) low = {end.least + 1, end.greatest + 1}, past = {first.least + 1, first.greatest + 1};
  const auto clip = [&](Extremes e) {
    return Extremes{std::clamp(e.least, within.begin, within.end), std::clamp(e.greatest, within.begin, within.end)};
  };
  low = clip(low), past = clip(past);
  TileRange& out = ranges[k];
  out = {low.least, past.greatest - 1, 1, low.least == low.greatest && past.least == past.greatest};
  const int64_t step = std::abs(loop.step);
  if (step > 1 && first.least != first.greatest) {
    out.exact = false;
  } else if (step > 1) {
    out.step = step;
    if (down) out.last = first.least - ceil_div(first.least - out.last, step) * step;
    else out.low = on_grid(first.least, out.low, step);
    if (down) out.low = out.last - floor_div(out.last - out.low, step) * step;
    else out.last = out.low + floor_div(out.last - out.low, step) * step;
  }
  if (out.empty()) out = {0, -1, 1, false};
}

// Adds a dimension outside of the others, which are from the innermost to the outermost as long as boxes grow.
void surround(TileBox& box, int64_t times, int64_t apart) {
  const int64_t extent = box.bounds().high;
  const auto last = static_cast<size_t>(box.dims) - 1;
  if (box.dims == 0 && apart <= extent) {
    box.bytes += static_cast<size_t>((times - 1) * apart);
  } else if (box.dims > 0 && apart == box.stride[last] * box.count[last]) {
    box.count[last] *= times;
  } else if (box.dims < most && apart >= extent) {
    box.add(times, apart);
  } else {  // all bytes from the first to the last
    box.bytes = static_cast<size_t>(extent + (times - 1) * apart), box.dims = 0, box.exact = false;
  }
}

// Returns false for an access in a loop that has no iterations.
bool happens(const TileAccess& access, size_t loops, const TileRanges& ranges) {
  for (size_t k = 0; k < loops; ++k)
    if (access.move[k] != 0 && ranges[k].empty()) return false;
  return true;
}

TileBox box_of(const TileAccess& access, std::span<const Span> loops, const TileRanges& ranges) {
  TileBox box = {{access.base + access.offset, static_cast<size_t>(access.block)}, access.flags};
  box.flags &= Access::reads | Access::writes, box.exact = (access.flags & Access::perhaps) == 0;
  struct Dimension {
    int64_t stride, count;
  };
  std::vector<Dimension> dimensions;
  for (size_t k = 0; k < loops.size(); ++k) {
    const TileRange& range = ranges[k];
    // A number computed from a loop's variable does not change the number of iterations.
    box.exact = box.exact && (range.exact || (loops[k].value != nullptr && access.move[k] == 0));
    box.address += access.move[k] * (access.move[k] < 0 ? range.last : range.low);
    if (access.move[k] != 0 && range.count() > 1)
      dimensions.push_back({std::abs(access.move[k]) * range.step, range.count()});
  }
  std::sort(dimensions.begin(), dimensions.end(), [](auto a, auto b) { return a.stride < b.stride; });
  for (const Dimension& d : dimensions) surround(box, d.count, d.stride);
  std::reverse(box.count.data(), box.count.data() + box.dims);
  std::reverse(box.stride.data(), box.stride.data() + box.dims);
  return box;
}

// A distance from a box as steps along its dimensions, the last of which is its bytes.
using Steps = std::array<int64_t, most + 1>;

Steps steps_of(int64_t distance, const TileBox& box) {
  Steps out{};
  const auto dims = static_cast<size_t>(box.dims);
  for (size_t d = 0; d < dims; ++d) {
    out[d] = floor_div(2 * distance + box.stride[d], 2 * box.stride[d]);
    distance -= out[d] * box.stride[d];
  }
  out[dims] = distance;
  return out;
}

int64_t length_of(const TileBox& box, int d) {
  return d == box.dims ? static_cast<int64_t>(box.bytes) : box.count[static_cast<size_t>(d)];
}
void set_length(TileBox& box, int d, int64_t length) {
  if (d == box.dims) box.bytes = static_cast<size_t>(length);
  else box.count[static_cast<size_t>(d)] = length;
}
int64_t stride_of(const TileBox& box, int d) { return d == box.dims ? 1 : box.stride[static_cast<size_t>(d)]; }

void add(std::vector<TileBox>& boxes, const TileBox& box) {
  for (TileBox& old : boxes)
    if (old == box) {
      old.exact = (old.exact || (old.flags & Access::writes) == 0) && (box.exact || (box.flags & Access::writes) == 0);
      old.flags |= box.flags;
      return;
    }
  boxes.push_back(box);
}

// Equal boxes of reads at different distances.
class Moved {
 public:
  explicit Moved(const TileBox& first) : core_(first) {}

  // Returns false if it shares nothing with the box, so that it is a box of its own.
  bool add(int64_t distance) {
    const Steps steps = steps_of(distance, core_);
    for (int d = 0; d <= core_.dims; ++d)
      if (std::abs(steps[at(d)]) >= length_of(core_, d)) return false;
    all_.push_back(steps);
    return true;
  }

  // `zero`: the distance of the same tile of another array from the first box.
  void list(int64_t zero, std::vector<TileBox>& boxes) {
    Steps least = all_[0], greatest = all_[0], centre = steps_of(zero, core_);
    bool inside = true;
    for (int d = 0; d <= core_.dims; ++d) {
      for (const Steps& s : all_)
        least[at(d)] = std::min(least[at(d)], s[at(d)]), greatest[at(d)] = std::max(greatest[at(d)], s[at(d)]);
      inside = inside && least[at(d)] <= centre[at(d)] && centre[at(d)] <= greatest[at(d)];
    }
    for (int d = 0; d <= core_.dims; ++d) {
      if (!inside) centre[at(d)] = all_[0][at(d)];
      core_.address += centre[at(d)] * stride_of(core_, d);
      for (Steps& s : all_) s[at(d)] -= centre[at(d)];
    }
    hiroba::add(boxes, core_);
    for (int d = 0; d <= core_.dims; ++d) border(d, -1, boxes), border(d, 1, boxes);
  }

 private:
  static size_t at(int d) { return static_cast<size_t>(d); }

  // Adds the box before or after the core in dimension d, limited to the core in the dimensions outside of d.
  void border(int d, int side, std::vector<TileBox>& boxes) const {
    Steps least{}, greatest{};
    for (const Steps& s : all_) {
      if (s[at(d)] * side <= 0) continue;
      for (int e = d; e <= core_.dims; ++e)
        least[at(e)] = std::min(least[at(e)], s[at(e)]), greatest[at(e)] = std::max(greatest[at(e)], s[at(e)]);
    }
    const int64_t thick = side < 0 ? -least[at(d)] : greatest[at(d)];
    if (thick == 0) return;
    TileBox box = core_;
    box.address += (side < 0 ? -thick : length_of(box, d)) * stride_of(box, d);
    set_length(box, d, thick);
    for (int e = d + 1; e <= core_.dims; ++e) {
      box.address += least[at(e)] * stride_of(box, e);
      set_length(box, e, length_of(box, e) + greatest[at(e)] - least[at(e)]);
    }
    hiroba::add(boxes, box);
  }

  TileBox core_;
  std::vector<Steps> all_;
};

}  // namespace

bool ranges_of(std::span<const Span> loops, std::span<const Interval> within, TileRanges& ranges) {
  for (size_t k = 0; k < loops.size(); ++k) {
    if (loops[k].value != nullptr) ranges[k] = made_of(loops[k], ranges[static_cast<size_t>(loops[k].of)]);
    else range_of(loops[k], k, k < within.size() ? within[k] : Interval{-far, far}, ranges);
    if (k < within.size() && ranges[k].empty()) return false;
  }
  return true;
}

void boxes_of(std::span<const TileAccess> all, std::span<const Span> loops, const TileRanges& ranges,
              std::vector<TileBox>& boxes) {
  boxes.clear();
  std::vector<TileAccess> accesses;
  std::copy_if(all.begin(), all.end(), std::back_inserter(accesses),
               [&](const TileAccess& access) { return happens(access, loops.size(), ranges); });
  for (const TileAccess& access : accesses)
    if ((access.flags & Access::writes) != 0) add(boxes, box_of(access, loops, ranges));
  for (size_t i = 0; i < accesses.size(); ++i) {
    const auto alike = [&](const TileAccess& other) {
      return (other.flags & Access::writes) == 0 && other.base == accesses[i].base &&
             other.block == accesses[i].block && other.move == accesses[i].move;
    };
    if (!alike(accesses[i])) continue;
    const TileBox first = box_of(accesses[i], loops, ranges);
    const bool done = std::any_of(accesses.begin(), accesses.begin() + static_cast<std::ptrdiff_t>(i), alike);
    if (done) continue;
    Moved moved(first);
    for (size_t k = i; k < accesses.size(); ++k)
      if (alike(accesses[k]) && !moved.add(accesses[k].offset - accesses[i].offset))
        add(boxes, box_of(accesses[k], loops, ranges));
    moved.list(-accesses[i].offset, boxes);
  }
}

}  // namespace hiroba
