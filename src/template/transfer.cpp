#include "template/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

namespace hiroba {

namespace {

using List = std::vector<int64_t>;

// Joins offsets to runs, in their order.
std::vector<Run> runs_of(const List& offsets) {
  std::vector<Run> out;
  for (const int64_t at : offsets) {
    if (!out.empty()) {
      Run& last = out.back();
      if (last.count == 1) last.stride = at - last.at;
      if (at == last.at + last.count * last.stride) {
        ++last.count;
        continue;
      }
    }
    out.push_back({at, 1, 0});
  }
  return out;
}

int64_t count_of(const std::vector<std::vector<Run>>& dims) {
  int64_t product = 1;
  for (const std::vector<Run>& runs : dims) {
    int64_t sum = 0;
    for (const Run& run : runs) sum += run.count;
    product *= sum;
  }
  return product;
}

// Calls visit(address, count, stride) for the innermost runs.
template <typename Visit>
void for_runs(const std::vector<std::vector<Run>>& dims, size_t d, char* at, const Visit& visit) {
  if (d == dims.size()) return visit(at, int64_t{1}, int64_t{0});
  for (const Run& run : dims[d]) {
    if (d + 1 == dims.size()) {
      visit(at + run.at, run.count, run.stride);
      continue;
    }
    for (int64_t i = 0; i < run.count; ++i) for_runs(dims, d + 1, at + run.at + i * run.stride, visit);
  }
}

// Copies elements of a size that the compiler knows.
template <size_t bytes>
void copy_strided(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

void copy_elements(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count, size_t element) {
  const auto bytes = static_cast<int64_t>(element);
  if (count == 1 || (to_stride == bytes && from_stride == bytes)) {
    std::memcpy(to, from, element * static_cast<size_t>(count));
    return;
  }
  if (element == 8) return copy_strided<8>(to, to_stride, from, from_stride, count);
  if (element == 4) return copy_strided<4>(to, to_stride, from, from_stride, count);
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, element);
}

bool owns(const AlignedLayout& layout, int d, int64_t index, const std::vector<int>& at) {
  const int owner = layout.owner(d, index);
  return owner < 0 || owner == at[layout.on_grid(d)];
}

// The dimensions of the grid in which no dimension of the array is divided: there nodes have copies.
std::vector<int> copied_over(const AlignedLayout& layout) {
  std::vector<int> out;
  for (int g = 0; g < layout.on().grid.dims(); ++g) {
    bool divided = false;
    for (int d = 0; d < layout.dims(); ++d) divided = divided || layout.on_grid(d) == g;
    if (!divided) out.push_back(g);
  }
  return out;
}

std::vector<int> matched_dims(const TransferSide& side) {
  std::vector<int> out;
  for (size_t d = 0; d < side.dims.size(); ++d)
    if (side.dims[d].count != 1) out.push_back(static_cast<int>(d));
  return out;
}

}  // namespace

// One side of a transfer as the ranks of a team have it.
class Transfer::Builder {
 public:
  Builder(const Team& team, int me, const TransferSide& side)
      : side_(side), matched_(matched_dims(side)), me_(team.find(me)) {
    if (side.layout != nullptr) copies_ = copied_over(*side.layout);
    for (int m = 0; m < team.count; ++m)
      at_.push_back(side.layout == nullptr ? List32() : side.layout->on().grid.coordinates(team.rank(m)));
  }

  bool is_memory() const { return side_.layout == nullptr; }
  int matched() const { return static_cast<int>(matched_.size()); }
  int64_t count(int k) const { return side_.dims[matched_[k]].count; }
  // True if that member has elements in the dimensions that have one index.
  bool takes_part(int member) const {
    if (is_memory()) return true;
    if (at_[member].empty()) return false;
    for (size_t d = 0; d < side_.dims.size(); ++d)
      if (side_.dims[d].count == 1 && !owns(*side_.layout, static_cast<int>(d), side_.dims[d].base, at_[member]))
        return false;
    return true;
  }
  // One of the nodes with copies gives to each taker: that with the taker's coordinates, else the first.
  bool gives_to(int member, int taker) const {
    if (is_memory()) return member == taker;
    for (const int g : copies_)
      if (at_[member][g] != (at_[taker].empty() ? 0 : at_[taker][g])) return false;
    return true;
  }
  int coordinate(int k, int member) const {
    const int g = is_memory() ? -1 : side_.layout->on_grid(matched_[k]);
    return g < 0 ? -1 : at_[member][g];
  }
  bool owns_position(int k, int64_t position, int coordinate) const {
    if (coordinate < 0) return true;
    const TransferSide::Dim& dim = side_.dims[matched_[k]];
    return side_.layout->owner(matched_[k], dim.base + position * dim.step) == coordinate;
  }
  // This rank's box of the elements at these positions.
  Box box(const std::vector<const List*>& positions) const {
    Box out = {side_.data, {}};
    for (size_t d = 0; d < side_.dims.size(); ++d)
      if (side_.dims[d].count == 1) out.data += offset(static_cast<int>(d), side_.dims[d].base);
    for (int k = 0; k < matched(); ++k) {
      const TransferSide::Dim& dim = side_.dims[matched_[k]];
      List offsets;
      for (const int64_t position : *positions[k])
        offsets.push_back(offset(matched_[k], dim.base + position * dim.step));
      out.dims.push_back(runs_of(offsets));
    }
    return out;
  }

 private:
  using List32 = std::vector<int>;
  struct Memory {
    int64_t first, stride;
  };

  const Memory& memory(int d) const {
    if (memory_.empty()) {
      if (is_memory()) {
        for (const TransferSide::Dim& dim : side_.dims) memory_.push_back({0, dim.stride});
      } else {
        const auto strides = side_.layout->strides(at_[me_].empty() ? zero() : at_[me_]);
        for (int i = 0; i < side_.layout->dims(); ++i)
          memory_.push_back({side_.layout->part(i, at_[me_].empty() ? zero() : at_[me_]).memory_first, strides[i]});
      }
    }
    return memory_[d];
  }
  List32 zero() const { return List32(side_.layout->on().grid.extent.size()); }
  int64_t offset(int d, int64_t index) const {
    const int64_t number = is_memory() ? index : side_.layout->number(d, index);
    return (number - memory(d).first) * memory(d).stride;
  }

  const TransferSide& side_;
  std::vector<int> matched_, copies_;
  int me_;
  std::vector<List32> at_;  // coordinates of each member
  mutable std::vector<Memory> memory_;
};

Transfer Transfer::of_sections(const Team& team, int me, const TransferSide& to, const TransferSide& from,
                               size_t element) {
  Transfer out;
  for (int m = 0; m < team.count; ++m) out.ranks_.push_back(team.rank(m));
  out.element_ = element;
  const Builder target(team, me, to), source(team, me, from);
  const int own = team.find(me);
  std::map<std::tuple<int, int, int>, List> lists;  // positions, by dimension and the coordinates of giver and taker
  const auto list = [&](int k, int giver, int taker) -> const List& {
    const auto [found, made] = lists.try_emplace({k, giver, taker});
    for (int64_t i = 0; made && i < target.count(k); ++i)
      if (source.owns_position(k, i, giver) && target.owns_position(k, i, taker)) found->second.push_back(i);
    return found->second;
  };
  const auto boxes = [&](int giver, int taker, const Builder& mine) {
    std::vector<Box> made;
    if (!source.takes_part(giver) || !target.takes_part(taker) || !source.gives_to(giver, taker)) return made;
    std::vector<const List*> positions;
    for (int k = 0; k < target.matched(); ++k)
      positions.push_back(&list(k, source.coordinate(k, giver), target.coordinate(k, taker)));
    made.push_back(mine.box(positions));
    return made;
  };
  for (int m = 0; m < team.count; ++m) {
    out.give_.push_back(boxes(own, m, source));
    out.take_.push_back(boxes(m, own, target));
  }
  out.set_room();
  return out;
}

namespace {

// An element of a node's memory in one dimension.
struct Slot {
  int64_t index, at;
  bool is_shadow;
};

std::vector<Slot> slots_of(const AlignedLayout& layout, int d, const std::vector<int>& at,
                           const Transfer::Width& width) {
  const AlignedLayout::Part part = layout.part(d, at);
  const AlignedLayout::Dim& dim = layout.dim(d);
  std::vector<Slot> out;
  if (part.count == 0) return out;
  if (layout.turns(d) || dim.full) {
    for (int64_t i = 0; i < dim.extent; ++i)
      if (const bool own = owns(layout, d, i, at); own || dim.full)
        out.push_back({i, layout.number(d, i) - part.memory_first, !own});
    return out;
  }
  for (int64_t i = part.first - width.low; i < part.first + part.count + width.high; ++i) {
    const bool inside = i >= 0 && i < dim.extent;
    if (!inside && !width.periodic) continue;
    const bool own = i >= part.first && i < part.first + part.count;
    out.push_back({(i % dim.extent + dim.extent) % dim.extent, i - part.memory_first, !own});
  }
  return out;
}

}  // namespace

Transfer Transfer::of_shadow(const Team& team, int me, const AlignedLayout& layout, char* data,
                             std::span<const Width> widths) {
  Transfer out;
  for (int m = 0; m < team.count; ++m) out.ranks_.push_back(team.rank(m));
  out.element_ = layout.element();
  const Grid& grid = layout.on().grid;
  const std::vector<int> own = grid.coordinates(me), copies = copied_over(layout);
  const auto none = static_cast<size_t>(team.count);
  out.give_.resize(none), out.take_.resize(none);
  // The boxes that the node `taker` takes from the node `giver`, in the memory of one of them, which is this one.
  const auto boxes = [&](const std::vector<int>& giver, const std::vector<int>& taker, bool gives) {
    std::vector<Box> made;
    for (const int g : copies)
      if (giver[g] != taker[g]) return made;
    const auto strides = layout.strides(own);
    std::vector<std::array<List, 2>> offsets(layout.dims());  // own elements of the taker, and its shadow
    for (int d = 0; d < layout.dims(); ++d)
      for (const Slot& slot : slots_of(layout, d, taker, widths[d])) {
        if (!owns(layout, d, slot.index, giver)) continue;
        const int64_t at = gives ? layout.number(d, slot.index) - layout.part(d, giver).memory_first : slot.at;
        offsets[d][slot.is_shadow ? 1 : 0].push_back(at * strides[d]);
      }
    for (unsigned mask = 1; mask < 1U << layout.dims(); ++mask) {
      Box box = {data, {}};
      for (int d = 0; d < layout.dims(); ++d) box.dims.push_back(runs_of(offsets[d][mask >> d & 1]));
      if (count_of(box.dims) > 0) made.push_back(std::move(box));
    }
    return made;
  };
  for (int m = 0; m < team.count && !own.empty(); ++m) {
    const std::vector<int> other = grid.coordinates(team.rank(m));
    if (other.empty()) continue;
    out.give_[m] = boxes(own, other, true);
    out.take_[m] = boxes(other, own, false);
  }
  out.set_room();
  return out;
}

void Transfer::set_room() {
  const auto sizes = [&](const std::vector<std::vector<Box>>& all, std::vector<size_t>& bytes,
                         std::vector<char>& room) {
    size_t sum = 0;
    for (const std::vector<Box>& boxes : all) {
      size_t each = 0;
      for (const Box& box : boxes) each += static_cast<size_t>(count_of(box.dims)) * element_;
      bytes.push_back(each), sum += each;
    }
    room.resize(std::max<size_t>(sum, 1));  // a null address would mean an exchange in place
    return static_cast<int64_t>(sum);
  };
  given_ = sizes(give_, gives_, out_);
  sizes(take_, takes_, in_);
}

void Transfer::pack(const Box& box, size_t element, char*& packed) {
  const auto bytes = static_cast<int64_t>(element);
  for_runs(box.dims, 0, box.data, [&](const char* at, int64_t count, int64_t stride) {
    copy_elements(packed, bytes, at, stride, count, element);
    packed += count * bytes;
  });
}

void Transfer::reverse(Combine combine) {
  std::swap(give_, take_);
  std::swap(gives_, takes_);
  std::swap(out_, in_);
  given_ = static_cast<int64_t>(std::accumulate(gives_.begin(), gives_.end(), size_t{0}));
  combine_ = combine;
}

void Transfer::unpack(const Box& box, const char*& packed) const {
  const auto bytes = static_cast<int64_t>(element_);
  for_runs(box.dims, 0, box.data, [&](char* at, int64_t count, int64_t stride) {
    if (combine_ != nullptr) combine_(at, stride, packed, count);
    else copy_elements(at, stride, packed, bytes, count, element_);
    packed += count * bytes;
  });
}

Plan Transfer::plan() {
  char* at = out_.data();
  for (const std::vector<Box>& boxes : give_)
    for (const Box& box : boxes) pack(box, element_, at);
  return plan_alltoallv(out_.data(), BlockTable::one_after_another(gives_), in_.data(),
                        BlockTable::one_after_another(takes_));
}

Status Transfer::perform(TeamOperations& teams, const Call& call) {
  const Plan made = plan();
  Members other;
  HIROBA_TRY(teams.perform(teams.members_of(Team::of(ranks_), other), made, call));
  finish();
  return {};
}

Status Transfer::start(TeamOperations& teams, const Call& call, Started& out) {
  const Plan made = plan();
  Members other;
  return teams.start(teams.members_of(Team::of(ranks_), other), made, call, out);
}

void Transfer::finish() {
  const char* at = in_.data();
  for (const std::vector<Box>& boxes : take_)
    for (const Box& box : boxes) unpack(box, at);
}

}  // namespace hiroba
