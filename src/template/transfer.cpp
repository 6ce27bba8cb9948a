#include "template/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/rows.hpp"

namespace hiroba {

namespace {

// Consecutive positions of a section, or indices.
struct Interval {
  int64_t first, count;
};

// Adds a run to a list, in which runs that continue each other become one.
void append(std::vector<Run>& runs, Run run) {
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

void copy_elements(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count, size_t element) {
  const auto bytes = static_cast<int64_t>(element);
  if (count == 1 || (to_stride == bytes && from_stride == bytes)) {
    std::memcpy(to, from, element * static_cast<size_t>(count));
    return;
  }
  copy_row(to, from, element, count, to_stride, from_stride);
}

bool owns(const AlignedLayout& layout, int d, int64_t index, const std::vector<int>& at) {
  const int owner = layout.owner(d, index);
  return owner < 0 || owner == at[layout.on_grid(d)];
}

// The owner of an index has all from low to before high around it.
Interval owned_around(const AlignedLayout& layout, int d, int64_t index) {
  if (layout.on_grid(d) < 0) return {0, layout.dim(d).extent};
  const int64_t shift = layout.dim(d).shift;
  int64_t begin = 0, end = 0;
  layout.axis(d)->run_of(index + shift, begin, end);
  return {begin - shift, end - begin};
}

std::vector<int> matched_dims(const TransferSide& side) {
  std::vector<int> out;
  for (int d = 0; d < static_cast<int>(side.dims.size()); ++d) {
    const int next = side.order.empty() ? d : side.order[d];
    if (side.dims[next].count != 1) out.push_back(next);
  }
  return out;
}

}  // namespace

// One side of a transfer as the ranks of a team have it.
class Transfer::Builder {
 public:
  Builder(const Team& team, int me, const TransferSide& side)
      : side_(side), matched_(matched_dims(side)), me_(team.find(me)), memory_(static_cast<size_t>(team.count)) {
    if (side.layout != nullptr) copies_ = side.layout->copied_over();
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
  // The number of positions from one on that have the same owner, which `own` says is that coordinate or not.
  int64_t same_owner(int k, int64_t position, int coordinate, bool& own) const {
    const TransferSide::Dim& dim = side_.dims[matched_[k]];
    const int64_t left = dim.count - position, index = dim.base + position * dim.step;
    own = coordinate < 0 || side_.layout->owner(matched_[k], index) == coordinate;
    if (coordinate < 0) return left;
    const Interval around = owned_around(*side_.layout, matched_[k], index);
    const int64_t away = dim.step > 0 ? around.first + around.count - 1 - index : index - around.first;
    return std::min(left, away / std::abs(dim.step) + 1);
  }
  // A member's box of the elements at these positions, each interval of which has one owner.
  Box box(const std::vector<const std::vector<Interval>*>& positions, int member) const {
    Box out = {member == me_ ? side_.data : side_.parts[member], {}};
    for (size_t d = 0; d < side_.dims.size(); ++d)
      if (side_.dims[d].count == 1) out.data += offset(static_cast<int>(d), side_.dims[d].base, member);
    for (int k = 0; k < matched(); ++k) {
      const TransferSide::Dim& dim = side_.dims[matched_[k]];
      std::vector<Run>& runs = out.dims.emplace_back();
      for (const Interval& part : *positions[k])
        append(runs, {offset(matched_[k], dim.base + part.first * dim.step, member), part.count,
                      dim.step * memory(matched_[k], member).stride});
    }
    return out;
  }

 private:
  using List32 = std::vector<int>;
  struct Memory {
    int64_t first, stride;
  };

  const Memory& memory(int d, int member) const {
    std::vector<Memory>& of = memory_[member];
    if (of.empty() && is_memory()) {
      for (const TransferSide::Dim& dim : side_.dims) of.push_back({0, dim.stride});
    } else if (of.empty()) {
      const List32 at = at_[member].empty() ? List32(side_.layout->on().grid.extent.size()) : at_[member];
      const auto strides = side_.layout->strides(at);
      for (int i = 0; i < side_.layout->dims(); ++i) of.push_back({side_.layout->part(i, at).memory_first, strides[i]});
    }
    return of[d];
  }
  int64_t offset(int d, int64_t index, int member) const {
    const int64_t number = is_memory() ? index : side_.layout->number(d, index);
    return (number - memory(d, member).first) * memory(d, member).stride;
  }

  const TransferSide& side_;
  std::vector<int> matched_, copies_;
  int me_;
  std::vector<List32> at_;  // coordinates of each member
  mutable std::vector<std::vector<Memory>> memory_;
};

Transfer Transfer::of_sections(const Team& team, int me, const TransferSide& to, const TransferSide& from,
                               size_t element) {
  Transfer out;
  for (int m = 0; m < team.count; ++m) out.ranks_.push_back(team.rank(m));
  out.element_ = element;
  const Builder target(team, me, to), source(team, me, from);
  const int own = team.find(me);
  // Positions, by dimension and the coordinates of giver and taker.
  std::map<std::tuple<int, int, int>, std::vector<Interval>> lists;
  const auto list = [&](int k, int giver, int taker) -> const std::vector<Interval>& {
    const auto [found, made] = lists.try_emplace({k, giver, taker});
    for (int64_t i = 0, same = 0; made && i < target.count(k); i += same) {
      bool gives = false, takes = false;
      same = source.same_owner(k, i, giver, gives);
      same = std::min(same, target.same_owner(k, i, taker, takes));
      if (gives && takes) found->second.push_back({i, same});
    }
    return found->second;
  };
  // The box of what one member gives to the other, in the memory of the giver or that of the taker.
  const auto boxes = [&](int giver, int taker, bool gives) {
    std::vector<Box> made;
    if (!source.takes_part(giver) || !target.takes_part(taker) || !source.gives_to(giver, taker)) return made;
    std::vector<const std::vector<Interval>*> positions;
    for (int k = 0; k < target.matched(); ++k)
      positions.push_back(&list(k, source.coordinate(k, giver), target.coordinate(k, taker)));
    made.push_back(gives ? source.box(positions, giver) : target.box(positions, taker));
    return made;
  };
  out.reaches_ = !from.parts.empty() && to.layout != from.layout;
  for (int m = 0; m < team.count; ++m) {
    out.take_.push_back(boxes(m, own, false));
    out.give_.push_back(boxes(own, m, true));
    if (out.reaches_) out.add_copies(out.take_.back(), boxes(m, own, true));
  }
  return out;
}

namespace {

// Consecutive elements of a node's memory in one dimension.
struct Slots {
  int64_t index, count, at;
  bool is_shadow;
};

std::vector<Slots> slots_of(const AlignedLayout& layout, int d, const std::vector<int>& at,
                            const Transfer::Width& width) {
  const AlignedLayout::Part part = layout.part(d, at);
  const AlignedLayout::Dim& dim = layout.dim(d);
  std::vector<Slots> out;
  if (part.count == 0) return out;
  if (layout.turns(d) || dim.full) {
    for (int64_t i = 0, count = 0; i < dim.extent; i += count) {
      const Interval around = owned_around(layout, d, i);
      count = std::min(around.first + around.count, dim.extent) - i;
      if (const bool own = owns(layout, d, i, at); own || dim.full)
        out.push_back({i, count, layout.number(d, i) - part.memory_first, !own});
    }
    return out;
  }
  const int64_t end = part.first + part.count;
  for (int64_t i = part.first - width.low, count = 0; i < end + width.high; i += count) {
    const int64_t index = (i % dim.extent + dim.extent) % dim.extent;
    const int64_t limit = i < part.first ? part.first : i < end ? end : end + width.high;
    count = std::min(limit - i, dim.extent - index);
    if (index == i || width.periodic) out.push_back({index, count, i - part.memory_first, i < part.first || i >= end});
  }
  return out;
}

// Adds those of the slots that a giver owns, in its memory or in the taker's, to the runs of own elements and shadow.
void add_slots(const AlignedLayout& layout, int d, const Slots& slots, const std::vector<int>& giver, bool gives,
               int64_t stride, std::array<std::vector<Run>, 2>& runs) {
  for (int64_t i = 0, count = 0; i < slots.count; i += count) {
    const int64_t index = slots.index + i;
    const Interval around = owned_around(layout, d, index);
    count = std::min(around.first + around.count - index, slots.count - i);
    if (!owns(layout, d, index, giver)) continue;
    const int64_t at = gives ? layout.number(d, index) - layout.part(d, giver).memory_first : slots.at + i;
    append(runs[slots.is_shadow ? 1 : 0], {at * stride, count, stride});
  }
}

}  // namespace

// The boxes of a shadow that its node takes from the owners.
class Transfer::Shadow {
 public:
  Shadow(const AlignedLayout& layout, std::span<const Width> widths)
      : layout_(layout), widths_(widths), copies_(layout.copied_over()) {}

  // Returns what the node `taker` takes from the node `giver`, in the memory of the one or the other, which begins at
  // `data`.
  std::vector<Box> boxes(const std::vector<int>& giver, const std::vector<int>& taker, bool gives, char* data) const {
    std::vector<Box> made;
    if (giver.empty() || taker.empty()) return made;
    for (const int g : copies_)
      if (giver[g] != taker[g]) return made;
    const auto strides = layout_.strides(gives ? giver : taker);
    std::vector<std::array<std::vector<Run>, 2>> runs(layout_.dims());  // own elements of the taker, and its shadow
    for (int d = 0; d < layout_.dims(); ++d)
      for (const Slots& slots : slots_of(layout_, d, taker, widths_[d]))
        add_slots(layout_, d, slots, giver, gives, strides[d], runs[d]);
    for (unsigned mask = 1; mask < 1U << layout_.dims(); ++mask) {
      Box box = {data, {}};
      for (int d = 0; d < layout_.dims(); ++d) box.dims.push_back(runs[d][mask >> d & 1]);
      if (count_of(box.dims) > 0) made.push_back(std::move(box));
    }
    return made;
  }

 private:
  const AlignedLayout& layout_;
  std::span<const Width> widths_;
  std::vector<int> copies_;
};

Transfer Transfer::of_shadow(const Team& team, int me, const TransferSide& array, std::span<const Width> widths,
                             Combine combine) {
  Transfer out;
  for (int m = 0; m < team.count; ++m) out.ranks_.push_back(team.rank(m));
  out.element_ = array.layout->element();
  out.combine_ = combine, out.reaches_ = !array.parts.empty();
  const Grid& grid = array.layout->on().grid;
  const std::vector<int> own = grid.coordinates(me);
  const Shadow shadow(*array.layout, widths);
  const bool fills = combine == nullptr;  // owners give to shadows
  for (int m = 0; m < team.count; ++m) {
    const std::vector<int> other = grid.coordinates(team.rank(m));
    out.give_.push_back(fills ? shadow.boxes(own, other, true, array.data)
                              : shadow.boxes(other, own, false, array.data));
    out.take_.push_back(fills ? shadow.boxes(other, own, false, array.data)
                              : shadow.boxes(own, other, true, array.data));
    if (!out.reaches_) continue;
    char* const part = array.parts[m];
    out.add_copies(out.take_.back(),
                   fills ? shadow.boxes(other, own, true, part) : shadow.boxes(own, other, false, part));
  }
  return out;
}

namespace {

// Addresses of memory.
struct Range {
  uintptr_t low, high;
  bool meets(const Range& other) const { return low < other.high && other.low < high; }
};

}  // namespace

// A block that is consecutive in memory needs no copy, unless what this rank takes lies where it gives from, or is to
// be combined.
// A started transfer packs all that it gives, because the program may change that at once.
void Transfer::set_room(bool started) {
  const Packs wanted = started ? Packs::all : Packs::needed;
  if (packs_ == wanted) return;
  packs_ = wanted;
  const auto range_of = [&](const Box& box) {
    Range out = {reinterpret_cast<uintptr_t>(box.data), reinterpret_cast<uintptr_t>(box.data) + element_};
    for (const std::vector<Run>& runs : box.dims) {
      int64_t least = runs[0].at, most = least;
      for (const Run& run : runs)
        for (const int64_t end : {run.at, run.at + (run.count - 1) * run.stride})
          least = std::min(least, end), most = std::max(most, end);
      out.low += static_cast<uintptr_t>(least), out.high += static_cast<uintptr_t>(most);
    }
    return out;
  };
  const auto set = [&](const std::vector<std::vector<Box>>& all, const std::vector<std::vector<Box>>& others,
                       bool may_be_direct, Packed& packed) {
    size_t room = 0;
    packed = {};
    for (const std::vector<Box>& boxes : all) {
      size_t bytes = 0;
      for (const Box& box : boxes) bytes += static_cast<size_t>(count_of(box.dims)) * element_;
      char* direct = may_be_direct && bytes > 0 && boxes.size() == 1 ? consecutive(boxes[0], element_) : nullptr;
      for (const std::vector<Box>& each : others)
        for (const Box& other : each)
          if (direct != nullptr && count_of(other.dims) > 0 && range_of(boxes[0]).meets(range_of(other)))
            direct = nullptr;
      packed.direct.push_back(direct);
      packed.table.bytes.push_back(bytes);
      packed.table.at.push_back(room);
      if (direct == nullptr) room += bytes;
    }
    // A null address would mean an exchange in place.
    packed.room = std::make_unique_for_overwrite<char[]>(std::max<size_t>(room, 1));
    for (size_t m = 0; m < all.size(); ++m)
      if (packed.direct[m] != nullptr)
        packed.table.at[m] =
            reinterpret_cast<uintptr_t>(packed.direct[m]) - reinterpret_cast<uintptr_t>(packed.room.get());
  };
  set(give_, take_, !started, out_);
  set(take_, give_, combine_ == nullptr, in_);
}

// Returns the address of a box whose elements lie one after the other; null if they do not.
char* Transfer::consecutive(const Box& box, size_t element) {
  auto stride = static_cast<int64_t>(element);
  char* at = box.data;
  for (size_t d = box.dims.size(); d-- > 0;) {
    if (box.dims[d].size() != 1) return nullptr;
    const Run& run = box.dims[d][0];
    if (run.count > 1 && run.stride != stride) return nullptr;
    at += run.at, stride *= run.count;
  }
  return at;
}

void Transfer::pack(const Box& box, char*& packed) const {
  const auto bytes = static_cast<int64_t>(element_);
  for_runs(box.dims, 0, box.data, [&](const char* at, int64_t count, int64_t stride) {
    copy_elements(packed, bytes, at, stride, count, element_);
    packed += count * bytes;
  });
}

void Transfer::unpack(const Box& box, const char*& packed) const {
  const auto bytes = static_cast<int64_t>(element_);
  for_runs(box.dims, 0, box.data, [&](char* at, int64_t count, int64_t stride) {
    move(at, stride, packed, bytes, count);
    packed += count * bytes;
  });
}

void Transfer::move(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) const {
  if (combine_ != nullptr) combine_(to, to_stride, from, from_stride, count);
  else copy_elements(to, to_stride, from, from_stride, count, element_);
}

// ---- copies out of parts of others -----------------------------------------------------------------------------

// Both boxes have the same elements in the same order, but may have them in other runs.
void Transfer::add_copies(const std::vector<Box>& to, const std::vector<Box>& from) {
  for (size_t b = 0; b < to.size(); ++b) {
    Copy copy = {to[b].data, from[b].data, {}};
    for (size_t d = 0; d < to[b].dims.size(); ++d) {
      std::vector<Copy::Runs>& runs = copy.dims.emplace_back();
      const std::vector<Run>&mine = to[b].dims[d], &theirs = from[b].dims[d];
      int64_t done = 0, given = 0;  // of the present runs
      for (size_t i = 0, j = 0; i < mine.size() && j < theirs.size();) {
        const int64_t count = std::min(mine[i].count - done, theirs[j].count - given);
        runs.push_back({mine[i].at + done * mine[i].stride, mine[i].stride, theirs[j].at + given * theirs[j].stride,
                        theirs[j].stride, count});
        if ((done += count) == mine[i].count) ++i, done = 0;
        if ((given += count) == theirs[j].count) ++j, given = 0;
      }
    }
    copies_.push_back(std::move(copy));
  }
}

void Transfer::copy_all(const Copy& copy, size_t d, int64_t to, int64_t from) const {
  if (d == copy.dims.size()) return move(copy.to + to, 0, copy.from + from, 0, 1);
  for (const Copy::Runs& run : copy.dims[d]) {
    if (d + 1 == copy.dims.size()) {
      move(copy.to + to + run.to, run.to_stride, copy.from + from + run.from, run.from_stride, run.count);
      continue;
    }
    for (int64_t i = 0; i < run.count; ++i)
      copy_all(copy, d + 1, to + run.to + i * run.to_stride, from + run.from + i * run.from_stride);
  }
}

// ---- performing ------------------------------------------------------------------------------------------------

Plan Transfer::plan(bool started) {
  set_room(started);
  char* at = out_.room.get();
  for (size_t m = 0; m < give_.size(); ++m)
    for (const Box& box : give_[m])
      if (out_.direct[m] == nullptr) pack(box, at);
  return plan_alltoallv(out_.room.get(), out_.table, in_.room.get(), in_.table);
}

// Before the first barrier others may not have written yet what they give; after the second one they may change it.
Status Transfer::perform(TeamOperations& teams, const Call& call) {
  Members other;
  Members& members = teams.members_of(Team::of(ranks_), other);
  if (!reaches_) {
    HIROBA_TRY(teams.perform(members, plan(false), call));
    return finish(), Status();
  }
  HIROBA_TRY(teams.perform(members, plan_barrier(teams.member_of(members)), call));
  for (const Copy& copy : copies_) copy_all(copy, 0, 0, 0);
  return teams.perform(members, plan_barrier(teams.member_of(members)), call);
}

Status Transfer::start(TeamOperations& teams, const Call& call, Started& out) {
  Members other;
  return teams.start(teams.members_of(Team::of(ranks_), other), plan(true), call, out);
}

void Transfer::finish() {
  const char* at = in_.room.get();
  for (size_t m = 0; m < take_.size(); ++m)
    for (const Box& box : take_[m])
      if (in_.direct[m] == nullptr) unpack(box, at);
}

}  // namespace hiroba
