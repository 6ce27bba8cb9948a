#include "template/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "base/rows.hpp"

namespace hiroba {

namespace {

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

}  // namespace

Transfer Transfer::of_sections(const Team& team, int me, const TransferSide& to, const TransferSide& from,
                               size_t element) {
  Transfer out;
  out.ranks_ = team.ranks();
  out.element_ = element;
  const SideOfTeam target(team, me, to), source(team, me, from);
  SharedPositions positions(source, target);
  const int own = team.find(me);
  // The box of what one member gives to the other, in the memory of the giver or that of the taker.
  const auto boxes = [&](int giver, int taker, bool gives) {
    std::vector<Box> made;
    if (!source.takes_part(giver) || !target.takes_part(taker) || !source.gives_to(giver, taker)) return made;
    const SideOfTeam::Positions both = positions.of(giver, taker);
    made.push_back(gives ? source.box(both, giver) : target.box(both, taker));
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
      const OwnedRange around = owned_around(layout, d, i);
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
    const OwnedRange around = owned_around(layout, d, index);
    count = std::min(around.first + around.count - index, slots.count - i);
    if (!owns(layout, d, index, giver)) continue;
    const int64_t at = gives ? layout.number(d, index) - layout.part(d, giver).memory_first : slots.at + i;
    append(runs[slots.is_shadow ? 1 : 0], {at * stride, count, stride});
  }
}

}  // namespace

// The boxes of a shadow that its node takes from the owners. `carries`: where a dimension has no width, the shadow that
// the giver has there comes along, so that one reflect after the other for each dimension fills the corners, too.
class Transfer::Shadow {
 public:
  Shadow(const AlignedLayout& layout, std::span<const Width> widths, bool carries)
      : layout_(layout), widths_(widths), copies_(layout.copied_over()), carries_(carries) {}

  // Returns what the node `taker` takes from the node `giver`, in the memory of the one or the other, which begins at
  // `data`.
  std::vector<Box> boxes(const std::vector<int>& giver, const std::vector<int>& taker, bool gives, char* data) const {
    std::vector<Box> made;
    if (giver.empty() || taker.empty()) return made;
    for (const int g : copies_)
      if (giver[g] != taker[g]) return made;
    const auto strides = layout_.strides(gives ? giver : taker);
    std::vector<std::array<std::vector<Run>, 2>> runs(layout_.dims());  // own elements of the taker, and its shadow
    for (int d = 0; d < layout_.dims(); ++d) {
      if (carries(d, giver, taker)) {
        append(runs[d][0], {0, layout_.part(d, taker).size, strides[d]});
        continue;
      }
      for (const Slots& slots : slots_of(layout_, d, taker, widths_[d]))
        add_slots(layout_, d, slots, giver, gives, strides[d], runs[d]);
    }
    for (unsigned mask = 1; mask < 1U << layout_.dims(); ++mask) {
      Box box = {data, {}};
      for (int d = 0; d < layout_.dims(); ++d) box.dims.push_back(runs[d][mask >> d & 1]);
      if (count_of(box) > 0) made.push_back(std::move(box));
    }
    return made;
  }

 private:
  // Two nodes with one coordinate in a dimension have the same indices there, in their shadows, too.
  bool carries(int d, const std::vector<int>& giver, const std::vector<int>& taker) const {
    const AlignedLayout::Dim& dim = layout_.dim(d);
    const int g = layout_.on_grid(d);
    return carries_ && widths_[d].low == 0 && widths_[d].high == 0 && dim.low + dim.high > 0 && !dim.full &&
           !layout_.turns(d) && (g < 0 || giver[g] == taker[g]) && layout_.part(d, taker).count > 0;
  }

  const AlignedLayout& layout_;
  std::span<const Width> widths_;
  std::vector<int> copies_;
  const bool carries_;
};

Transfer Transfer::of_shadow(const Team& team, int me, const TransferSide& array, std::span<const Width> widths,
                             Combine combine) {
  Transfer out;
  out.ranks_ = team.ranks();
  out.element_ = array.layout->element();
  out.combine_ = combine, out.reaches_ = !array.parts.empty();
  const Grid& grid = array.layout->on().grid;
  const std::vector<int> own = grid.coordinates(me);
  const bool fills = combine == nullptr;  // owners give to shadows
  const Shadow shadow(*array.layout, widths, fills);
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
      for (const Box& box : boxes) bytes += static_cast<size_t>(count_of(box)) * element_;
      char* direct = may_be_direct && bytes > 0 && boxes.size() == 1 ? consecutive(boxes[0], element_) : nullptr;
      for (const std::vector<Box>& each : others)
        for (const Box& other : each)
          if (direct != nullptr && count_of(other) > 0 && range_of(boxes[0]).meets(range_of(other))) direct = nullptr;
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
    for (size_t d = 0; d < to[b].dims.size(); ++d) copy.dims.push_back(paired(to[b].dims[d], from[b].dims[d]));
    copies_.push_back(std::move(copy));
  }
}

void Transfer::copy_all(const Copy& copy, size_t d, int64_t to, int64_t from) const {
  if (d == copy.dims.size()) return move(copy.to + to, 0, copy.from + from, 0, 1);
  for (const PairedRuns& run : copy.dims[d]) {
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
