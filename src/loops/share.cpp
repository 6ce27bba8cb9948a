#include "loops/share.hpp"

namespace hiroba {

Interval offsets(const View& view, int d, std::span<const Values> values, size_t but) {
  Interval sum = {view.low[d], view.high[d] + 1};
  for (size_t k = 0; k < values.size(); ++k) {
    const int64_t factor = view.factor[d][k];
    if (factor == 0 || k == but) continue;
    const Values& v = values[k];
    const int64_t count = count_of(v);
    if (count == 0) return {0, 0};
    const int64_t a = factor * v.first, b = factor * (v.first + (count - 1) * v.step);
    sum.begin += std::min(a, b), sum.end += std::max(a, b);
  }
  return sum;
}

Interval values_within(Interval inside, Interval offset, int64_t factor) {
  const int64_t low = inside.begin <= -far ? -far : inside.begin - offset.begin;
  const int64_t high = inside.end >= far ? far : inside.end - offset.end;  // inclusive
  if (factor > 0) return {low <= -far ? -far : ceil_div(low, factor), high >= far ? far : floor_div(high, factor) + 1};
  return {high >= far ? -far : ceil_div(high, factor), low <= -far ? far : floor_div(low, factor) + 1};
}

namespace {

Interval equal_part(Interval all, int64_t step, int64_t part, int64_t parts) {
  const int64_t count = count_of({all.begin, all.end, step});
  const int64_t block = block_width(count, parts);
  const int64_t from = std::min(count, part * block), to = std::min(count, from + block);
  return {all.begin + from * step, to == count ? all.end : all.begin + to * step};
}

// Returns the divided dimension that a variable indexes, or -1. An array of bytes has its outermost dimension only.
int cut_dimension(const View& view, size_t variable) {
  const Distribution& d = view.array->distribution;
  for (int i = 0; i < (view.exact ? view.dims : 1); ++i)
    if (d.div(i) > 1 && view.factor[i][variable] != 0) return i;
  return -1;
}

bool only_outermost_cut(const Distribution& d) {
  for (int i = 1; i < d.dims(); ++i)
    if (d.div(i) > 1) return false;
  return d.div(0) > 1;
}

// Returns the indices of dimension `dim` that `rank` owns, in the view's unit; the first piece and the last extend
// beyond the array.
Interval owned(const View& view, int dim, int rank) {
  const Distribution& d = view.array->distribution;
  const Range range = d.box(rank)[static_cast<size_t>(dim)];
  if (range.length == 0) return {0, 0};
  int64_t unit = 1;
  if (!view.exact) {
    unit = static_cast<int64_t>(d.element_bytes());
    for (int i = 1; i < d.dims(); ++i) unit *= d.dim(i);
  }
  return {range.base == 0 ? -far : range.base * unit,
          range.base + range.length == d.dim(dim) ? far : (range.base + range.length) * unit};
}

Share everything(std::span<const Values> values, int shared) {
  Share all{};
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k) all[k] = {values[k].first, values[k].end};
  return all;
}

// Returns the rank's share if this view determines it; else false.
bool share_by(const View& view, const Job& job, int rank, std::span<const Values> values, int shared, Share& out) {
  std::array<int, most_shared> dims{};
  bool any = false;
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k) {
    dims[k] = cut_dimension(view, k);
    for (size_t other = 0; other < k; ++other)
      if (dims[other] == dims[k]) dims[k] = -1;  // the outer one determines the share
    any = any || dims[k] >= 0;
  }
  if (!any) return false;
  out = everything(values, shared);
  Share mine{};  // the share of the array
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k) {
    if (dims[k] < 0) continue;
    mine[k] = owned(view, dims[k], rank);
    if (mine[k].empty()) return out = {}, true;
  }
  int64_t before = 0, ranks = 0;  // ranks that own the same pieces of these dimensions
  for (int r = 0; r < job.nranks; ++r) {
    bool same = true;
    for (size_t k = 0; k < static_cast<size_t>(shared); ++k) {
      if (dims[k] < 0) continue;
      const Interval theirs = owned(view, dims[k], r);
      same = same && !theirs.empty() && theirs.begin == mine[k].begin;
    }
    before += same && r < rank;
    ranks += same;
  }
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k) {
    if (dims[k] < 0) continue;
    // The owner of the first element of an iteration computes it.
    const int64_t first = offsets(view, dims[k], values, k).begin;
    const Interval all = out[k];
    const Interval piece = intersection(values_within(mine[k], {first, first + 1}, view.factor[dims[k]][k]), all);
    if (piece.empty()) return out = {}, true;
    // Rounds to the loop's values: the owner of the first value at or after a border begins there.
    out[k] = {on_grid(all.begin, piece.begin, values[k].step), piece.end};
    if (out[k].empty()) return out = {}, true;
  }
  if (ranks > 1) out[0] = equal_part(out[0], values[0].step, before, ranks);
  return true;
}

}  // namespace

Share share_of(const Job& job, int rank, std::span<const Access> accesses, std::span<const Values> values, int shared) {
  Share out = everything(values, shared);
  for (size_t k = 0; k < static_cast<size_t>(shared); ++k)
    if (out[k].empty()) return {};
  for (const int wanted : {Access::owns, Access::writes, Access::reads})
    for (const auto& [flags, text, view] : accesses) {
      if ((flags & wanted) == 0 || view.array == nullptr) continue;
      if (!view.exact && !only_outermost_cut(view.array->distribution)) continue;
      if (share_by(view, job, rank, values, shared, out)) return out;
    }
  out[0] = equal_part(out[0], values[0].step, rank, job.nranks);
  return out;
}

}  // namespace hiroba
