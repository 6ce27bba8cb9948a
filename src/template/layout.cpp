#include "template/layout.hpp"

#include <algorithm>

namespace hiroba {

int Grid::set_of(int rank) const {
  const auto has = [rank](const std::vector<int>& set) { return std::find(set.begin(), set.end(), rank) != set.end(); };
  if (sets.empty()) return has(ranks) ? 0 : -1;
  const auto found = std::find_if(sets.begin(), sets.end(), has);
  return found == sets.end() ? -1 : static_cast<int>(found - sets.begin());
}

Grid Grid::as_in(int set) const { return {sets.empty() ? ranks : sets[static_cast<size_t>(set)], extent}; }

std::vector<int> Grid::coordinates(int rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  if (found == ranks.end()) return {};
  auto rest = static_cast<int>(found - ranks.begin());
  std::vector<int> out(extent.size());
  for (int d = dims() - 1; d >= 0; rest /= extent[d--]) out[d] = rest % extent[d];
  return out;
}

int Grid::rank_at(const std::vector<int>& coordinates) const {
  int at = 0;
  for (int d = 0; d < dims(); ++d) at = at * extent[d] + coordinates[d];
  return ranks[at];
}

AlignedLayout::AlignedLayout(const Template& of, std::vector<Dim> dims, size_t element)
    : template_(of), dims_(std::move(dims)), element_(element) {}

AlignedLayout::Part AlignedLayout::part(int d, int coordinate) const {
  const Dim& dim = dims_[d];
  Part out;
  if (on_grid(d) < 0) {
    out = {0, dim.extent, 0, dim.extent};
  } else {
    int64_t begin = 0, end = 0, from = dim.shift, last = -1;
    const int64_t past = dim.shift + dim.extent;
    bool any = false;
    while (axis(d)->next_run(coordinate, from, begin, end) && std::max(begin, from) < past) {
      begin = std::max(begin, from), end = std::min(end, past);
      if (!any) out.first = begin - dim.shift, any = true;
      out.count += end - begin, last = end - 1 - dim.shift, from = end;
    }
    out.memory_first = any ? number(d, out.first) : 0;
    out.size = any ? number(d, last) - out.memory_first + 1 : 0;
  }
  if (dim.full) out.memory_first = 0, out.size = dim.extent;
  else if (out.count > 0) out.memory_first -= dim.low, out.size += dim.low + dim.high;
  return out;
}

std::vector<int> AlignedLayout::copied_over() const {
  std::vector<int> out;
  for (int g = 0; g < template_.grid.dims(); ++g) {
    bool divided = false;
    for (int d = 0; d < dims(); ++d) divided = divided || on_grid(d) == g;
    if (!divided) out.push_back(g);
  }
  return out;
}

AlignedLayout AlignedLayout::without_shadow(size_t element) const {
  AlignedLayout out = *this;
  out.element_ = element;
  for (Dim& dim : out.dims_) dim.low = dim.high = 0, dim.full = false;
  return out;
}

std::array<int64_t, template_dims> AlignedLayout::strides(const std::vector<int>& at) const {
  std::array<int64_t, template_dims> out{};
  auto bytes = static_cast<int64_t>(element_);
  for (int d = dims() - 1; d >= 0; --d) {
    out[d] = bytes;
    bytes *= std::max<int64_t>(part(d, at).size, 1);
  }
  return out;
}

}  // namespace hiroba
