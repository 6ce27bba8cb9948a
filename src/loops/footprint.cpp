#include "loops/footprint.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/text.hpp"

namespace hiroba {

namespace {

struct Extent {
  int64_t low, high;  // both included
  int64_t count() const { return high - low + 1; }
};

// The values of an index over all iterations, with or without the outermost loop.
Extent extent_of(const PlainAccess& access, size_t d, std::span<const Values> loops, bool outermost) {
  Extent out = {access.low[d], access.high[d]};
  for (size_t k = outermost ? 0 : 1; k < loops.size(); ++k) {
    const int64_t last = loops[k].first + (count_of(loops[k]) - 1) * loops[k].step;
    const auto [low, high] = std::minmax({access.factor[d][k] * loops[k].first, access.factor[d][k] * last});
    out.low += low, out.high += high;
  }
  return out;
}

bool is(const PlainAccess& access, Access::Flag flag) { return (access.flags & flag) != 0; }

// Returns the dimension whose rows belong to one iteration of the outermost loop each; -1: there is none.
int own_dimension(const PlainAccess& access, std::span<const Values> loops) {
  for (int d = 0; d < access.dims; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t apart = std::abs(access.factor[i][0] * loops[0].step);
    if (apart > 0 && extent_of(access, i, loops, false).count() <= apart) return d;
  }
  return -1;
}

// The first byte and the last one, from the base on, that an access reaches from dimension `first` on.
ByteRange reach(const PlainAccess& access, size_t first, std::span<const Values> loops) {
  ByteRange out = {0, access.element};
  for (size_t d = first; d < static_cast<size_t>(access.dims); ++d) {
    const Extent e = extent_of(access, d, loops, true);
    out.low += e.low * access.stride[d], out.high += e.high * access.stride[d];
  }
  return out;
}

// Returns the first dimension that the outermost loop indexes, if a section has as many; 0 if there is none.
size_t outer_dimension(const PlainAccess& access) {
  for (size_t d = 0; d < static_cast<size_t>(std::min(access.dims, Footprint::Box::most_dims + 1)); ++d)
    if (access.factor[d][0] != 0) return d;
  return 0;
}

// Contiguous from dimension `own` on.
Footprint::Box box_of(const PlainAccess& access, size_t own, std::span<const Values> loops) {
  const ByteRange inner = reach(access, own, loops);
  Footprint::Box out(access.base + inner.low, static_cast<size_t>(inner.high - inner.low));
  for (size_t d = 0; d < own; ++d) {
    const Extent e = extent_of(access, d, loops, true);
    out.address += e.low * access.stride[d];
    if (e.count() > 1) out.add(e.count(), access.stride[d]);
  }
  return out;
}

Status check_pair(const PlainAccess& a, const PlainAccess& b, std::span<const Values> loops) {
  const ByteRange of_a = reach(a, 0, loops), of_b = reach(b, 0, loops);
  if (a.base + of_a.high <= b.base + of_b.low || b.base + of_b.high <= a.base + of_a.low) return {};
  const int own = own_dimension(a, loops);
  const auto d = static_cast<size_t>(own);
  bool separate =
      own == own_dimension(b, loops) && a.base == b.base && a.stride == b.stride && a.factor[d][0] == b.factor[d][0];
  if (separate) {
    const Extent x = extent_of(a, d, loops, false), y = extent_of(b, d, loops, false);
    const Extent both = {std::min(x.low, y.low), std::max(x.high, y.high)};
    separate = both.count() <= std::abs(a.factor[d][0] * loops[0].step);
  }
  if (separate) return {};
  return Status::error(
      format("`%s` and `%s` are written, and it is not known that different iterations write different rows; write "
             "them in two loops",
             a.text, b.text));
}

}  // namespace

Status check_separate(std::span<const PlainAccess> accesses, std::span<const Values> loops) {
  for (const PlainAccess& a : accesses) {
    if (!is(a, Access::writes)) continue;
    const int own = own_dimension(a, loops);
    if (own < 0)
      return Status::error(
          format("different iterations write the same rows of what `%s` names, so it cannot be moved in parts; let "
                 "the outermost loop be over rows or columns of it",
                 a.text));
    if (own > Footprint::Box::most_dims)
      return Status::error(
          format("`%s`: the outermost loop is over dimension %d; at most %d", a.text, own, Footprint::Box::most_dims));
  }
  for (size_t i = 0; i < accesses.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (is(accesses[i], Access::writes) && is(accesses[j], Access::writes))
        HIROBA_TRY(check_pair(accesses[i], accesses[j], loops));
  return {};
}

Footprint footprint_of(std::span<const PlainAccess> accesses, std::span<const Values> loops) {
  Footprint out;
  std::vector<size_t> order(accesses.size()), whole_of(accesses.size());
  std::vector<Footprint::Box> all;
  for (const PlainAccess& access : accesses) {
    all.push_back(box_of(access, 0, loops));
    if (is(access, Access::writes))
      out.written.push_back(box_of(access, static_cast<size_t>(own_dimension(access, loops)), loops));
  }
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return all[a].address < all[b].address; });
  std::vector<bool> by_columns;  // of each whole: all accesses to it are
  for (const size_t i : order) {
    const bool columns = outer_dimension(accesses[i]) > 0;
    if (out.whole.empty() || out.whole.back().end() <= all[i].address) {
      out.whole.push_back(all[i]), by_columns.push_back(columns);
    } else {
      Footprint::Box& last = out.whole.back();
      last.bytes = static_cast<size_t>(std::max(last.end(), all[i].end()) - last.address);
      by_columns.back() = by_columns.back() && columns;
    }
    whole_of[i] = out.whole.size() - 1;
  }
  for (size_t i = 0; i < accesses.size(); ++i) {
    const size_t w = whole_of[i];
    const Footprint::Box box = by_columns[w] ? box_of(accesses[i], outer_dimension(accesses[i]), loops) : out.whole[w];
    const auto found = std::find(out.used.begin(), out.used.end(), box);
    out.in.push_back(static_cast<size_t>(found - out.used.begin()));
    if (found == out.used.end()) out.used.push_back(box);
  }
  return out;
}

std::vector<int64_t> SpeedShares::bounds(int64_t iterations) const {
  const auto workers = static_cast<int64_t>(share_.size());
  std::vector<int64_t> out = {0};
  double sum = 0;
  for (int64_t k = 0; k < workers; ++k) {
    sum += share_[static_cast<size_t>(k)];
    const int64_t rounded = std::lround(sum * static_cast<double>(iterations)), left = workers - 1 - k;
    const int64_t least = std::min(out.back() + 1, iterations);
    const int64_t most = std::max(iterations - left, std::min(k + 1, iterations));  // others have some, too
    out.push_back(std::clamp(k + 1 == workers ? iterations : rounded, least, most));
  }
  return out;
}

void SpeedShares::measured(std::span<const int64_t> iterations, std::span<const double> seconds) {
  constexpr double worth = 1.1;        // the time that a new division must save
  constexpr double measurable = 1e-3;  // seconds
  for (size_t k = 0; k < share_.size(); ++k)
    if (iterations[k] == 0 || seconds[k] < measurable) return;
  double together = 0, slowest = 0;
  for (size_t k = 0; k < share_.size(); ++k) {
    const double now = static_cast<double>(iterations[k]) / seconds[k];
    speed_[k] = speed_[k] > 0 ? (speed_[k] + now) / 2 : now;
    together += speed_[k];
  }
  for (size_t k = 0; k < share_.size(); ++k) slowest = std::max(slowest, share_[k] / speed_[k] * together);
  if (!(slowest > worth)) return;
  for (size_t k = 0; k < share_.size(); ++k) share_[k] = speed_[k] / together;
}

}  // namespace hiroba
