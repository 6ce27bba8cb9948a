#include "template/sides.hpp"

#include <algorithm>
#include <cstdlib>

namespace hiroba {

namespace {

std::vector<int> matched_dims(const TransferSide& side) {
  std::vector<int> out;
  for (int d = 0; d < static_cast<int>(side.dims.size()); ++d) {
    const int next = side.order.empty() ? d : side.order[d];
    if (side.dims[next].count != 1) out.push_back(next);
  }
  return out;
}

}  // namespace

void append(std::vector<Run>& runs, const Run& run) {
  if (!runs.empty()) {
    Run& last = runs.back();
    const int64_t gap = run.at - (last.at + (last.count - 1) * last.stride);
    if ((last.count == 1 || last.stride == gap) && (run.count == 1 || run.stride == gap)) {
      last.count += run.count, last.stride = gap;
      return;
    }
  }
  runs.push_back(run);
}

int64_t count_of(const Box& box) {
  int64_t product = 1;
  for (const std::vector<Run>& runs : box.dims) {
    int64_t sum = 0;
    for (const Run& run : runs) sum += run.count;
    product *= sum;
  }
  return product;
}

std::vector<PairedRuns> paired(const std::vector<Run>& to, const std::vector<Run>& from) {
  std::vector<PairedRuns> out;
  int64_t taken = 0, given = 0;  // of the present runs
  for (size_t i = 0, j = 0; i < to.size() && j < from.size();) {
    const int64_t count = std::min(to[i].count - taken, from[j].count - given);
    out.push_back(
        {to[i].at + taken * to[i].stride, to[i].stride, from[j].at + given * from[j].stride, from[j].stride, count});
    taken += count, given += count;
    if (taken == to[i].count) ++i, taken = 0;
    if (given == from[j].count) ++j, given = 0;
  }
  return out;
}

bool owns(const AlignedLayout& layout, int d, int64_t index, const std::vector<int>& at) {
  const int owner = layout.owner(d, index);
  return owner < 0 || owner == at[layout.on_grid(d)];
}

OwnedRange owned_around(const AlignedLayout& layout, int d, int64_t index) {
  if (layout.on_grid(d) < 0) return {0, layout.dim(d).extent};
  const int64_t shift = layout.dim(d).shift;
  int64_t begin = 0, end = 0;
  layout.axis(d)->run_of(index + shift, begin, end);
  return {begin - shift, end - begin};
}

SideOfTeam::SideOfTeam(const Team& team, int me, const TransferSide& side)
    : team_(team),
      side_(side),
      matched_(matched_dims(side)),
      me_(team.find(me)),
      memory_(static_cast<size_t>(team.count)) {
  if (side.layout != nullptr) copies_ = side.layout->copied_over();
  for (int m = 0; m < team.count; ++m) {
    const Grid* const grid = side.layout == nullptr ? nullptr : &side.layout->on().grid;
    set_.push_back(grid == nullptr ? -1 : grid->set_of(team.rank(m)));
    at_.push_back(set_[m] < 0 ? std::vector<int>() : grid->as_in(set_[m]).coordinates(team.rank(m)));
  }
}

bool SideOfTeam::takes_part(int member) const {
  if (is_memory()) return true;
  if (at_[member].empty()) return false;
  for (size_t d = 0; d < side_.dims.size(); ++d)
    if (side_.dims[d].count == 1 && !owns(*side_.layout, static_cast<int>(d), side_.dims[d].base, at_[member]))
      return false;
  return true;
}

bool SideOfTeam::has_any(int member) const {
  if (!takes_part(member)) return false;
  for (int k = 0; k < matched(); ++k) {
    bool own = false;
    for (int64_t i = 0; i < count(k) && !own;) i += same_owner(k, i, coordinate(k, member), own);
    if (!own) return false;
  }
  return true;
}

bool SideOfTeam::gives_to(int member, int taker) const {
  if (is_memory()) return member == taker;
  if (set_[member] != set_for(taker)) return false;
  for (const int g : copies_)
    if (at_[member][g] != (at_[taker].empty() ? 0 : at_[taker][g])) return false;
  return true;
}

bool SideOfTeam::gives_to(int member, int taker, const std::vector<bool>& may_give) const {
  if (!may_give[member]) return false;
  int preferred = taker;
  if (!is_memory()) {
    std::vector<int> at = at_[member];
    for (const int g : copies_) at[g] = at_[taker].empty() ? 0 : at_[taker][g];
    preferred = team_.find(side_.layout->on().grid.as_in(set_for(taker)).rank_at(at));
  }
  return member == (may_give[preferred] ? preferred : first_giver(member, may_give));
}

int SideOfTeam::first_giver(int member, const std::vector<bool>& may_give) const {
  for (int m = 0; m < team_.count; ++m) {
    if (!may_give[m]) continue;
    if (is_memory()) return m;
    if (at_[m].empty()) continue;
    std::vector<int> at = at_[m];
    for (const int g : copies_) at[g] = at_[member][g];
    if (at == at_[member]) return m;
  }
  return -1;
}

int SideOfTeam::coordinate(int k, int member) const {
  const int g = is_memory() ? -1 : side_.layout->on_grid(matched_[k]);
  return g < 0 ? -1 : at_[member][g];
}

int64_t SideOfTeam::same_owner(int k, int64_t position, int coordinate, bool& own) const {
  const TransferSide::Dim& dim = side_.dims[matched_[k]];
  const int64_t left = dim.count - position, index = dim.base + position * dim.step;
  own = coordinate < 0 || side_.layout->owner(matched_[k], index) == coordinate;
  if (coordinate < 0) return left;
  const OwnedRange around = owned_around(*side_.layout, matched_[k], index);
  const int64_t away = dim.step > 0 ? around.first + around.count - 1 - index : index - around.first;
  return std::min(left, away / std::abs(dim.step) + 1);
}

Box SideOfTeam::box(const Positions& positions, int member) const {
  Box out = {member == me_ ? side_.data : side_.parts[member], {}};
  for (size_t d = 0; d < side_.dims.size(); ++d)
    if (side_.dims[d].count == 1) out.data += offset(static_cast<int>(d), side_.dims[d].base, member);
  for (int k = 0; k < matched(); ++k) {
    const TransferSide::Dim& dim = side_.dims[matched_[k]];
    std::vector<Run>& runs = out.dims.emplace_back();
    for (const OwnedRange& part : *positions[k])
      append(runs, {offset(matched_[k], dim.base + part.first * dim.step, member), part.count,
                    dim.step * memory(matched_[k], member).stride});
  }
  return out;
}

const SideOfTeam::Memory& SideOfTeam::memory(int d, int member) const {
  std::vector<Memory>& of = memory_[member];
  if (of.empty() && is_memory()) {
    for (const TransferSide::Dim& dim : side_.dims) of.push_back({0, dim.stride});
  } else if (of.empty()) {
    const std::vector<int> at =
        at_[member].empty() ? std::vector<int>(side_.layout->on().grid.extent.size()) : at_[member];
    const auto strides = side_.layout->strides(at);
    for (int i = 0; i < side_.layout->dims(); ++i) of.push_back({side_.layout->part(i, at).memory_first, strides[i]});
  }
  return of[d];
}

int64_t SideOfTeam::offset(int d, int64_t index, int member) const {
  const int64_t number = is_memory() ? index : side_.layout->number(d, index);
  return (number - memory(d, member).first) * memory(d, member).stride;
}

SideOfTeam::Positions SharedPositions::of(int giver, int taker) {
  SideOfTeam::Positions out;
  for (int k = 0; k < target_.matched(); ++k) {
    const int from = source_.coordinate(k, giver), to = target_.coordinate(k, taker);
    const auto [found, made] = lists_.try_emplace({k, from, to});
    for (int64_t i = 0, same = 0; made && i < target_.count(k); i += same) {
      bool gives = false, takes = false;
      same = source_.same_owner(k, i, from, gives);
      same = std::min(same, target_.same_owner(k, i, to, takes));
      if (gives && takes) found->second.push_back({i, same});
    }
    out.push_back(&found->second);
  }
  return out;
}

}  // namespace hiroba
