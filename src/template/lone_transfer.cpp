#include "template/lone_transfer.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

namespace {

// The ranks that execute this, then all others with a part of an array.
std::vector<int> with_nodes_of(const Team& executing, std::initializer_list<const TransferSide*> sides) {
  std::vector<int> out = executing.ranks();
  for (const TransferSide* side : sides)
    if (side->layout != nullptr)
      for (const int rank : side->layout->on().grid.ranks)
        if (std::find(out.begin(), out.end(), rank) == out.end()) out.push_back(rank);
  return out;
}

// Calls visit(to, from), sections that together are two boxes of the same elements.
template <typename Visit>
void for_sections(const Box& to, const Box& from, size_t element, const Visit& visit) {
  std::vector<std::vector<PairedRuns>> dims;
  for (size_t d = 0; d < to.dims.size(); ++d) dims.push_back(paired(to.dims[d], from.dims[d]));
  const auto next = [&](const auto& self, size_t d, const Section& target, const Section& source) -> void {
    if (d == dims.size()) return visit(target, source);
    for (const PairedRuns& runs : dims[d]) {
      Section t = target, s = source;
      t.address += runs.to, s.address += runs.from;
      t.add(runs.count, runs.to_stride), s.add(runs.count, runs.from_stride);
      self(self, d + 1, t, s);
    }
  };
  next(next, 0, Section(to.data, element), Section(from.data, element));
}

}  // namespace

Status LoneTransfer::start(const World& world, const Team& executing, Direction direction, const TransferSide& to,
                           const TransferSide& from, size_t element, const Finder& find, const Fetcher& fetch) {
  world_ = &world, direction_ = direction, element_ = element;
  mover_.start(world);
  const std::vector<int> ranks = with_nodes_of(executing, {&to, &from});
  const Team team = Team::of(ranks);
  std::vector<char*> parts(ranks.size());  // of the other side
  TransferSide sides[] = {to, from};
  const bool reads = direction == Direction::in;
  sides[reads ? 1 : 0].parts = parts;
  const SideOfTeam target(team, world.rank, sides[0]), source(team, world.rank, sides[1]);
  std::vector<bool> may_give(ranks.size(), reads && from.layout != nullptr);
  std::fill_n(may_give.begin(), executing.count, true);
  HIROBA_TRY(check(team, executing.count, reads ? target : source, may_give));

  const int own = team.find(world.rank);
  SharedPositions positions(source, target);
  for (int m = 0; m < team.count; ++m) {
    const int giver = reads ? m : own, taker = reads ? own : m;
    if (!source.takes_part(giver) || !target.takes_part(taker)) continue;
    const bool gives = to.common && !reads ? m == own && source.first_giver(own, may_give) == own
                                           : source.gives_to(giver, taker, may_give);
    if (!gives) continue;
    const SideOfTeam::Positions both = positions.of(giver, taker);
    if (std::any_of(both.begin(), both.end(), [](const auto* list) { return list->empty(); })) continue;
    if (m != own) {
      uint64_t offset = 0;
      HIROBA_TRY(find(team.rank(m), offset));
      parts[m] = world.base + offset;
    }
    const Box to_box = target.box(both, taker), from_box = source.box(both, giver);
    if (to.common || from.common)
      for_sections(to_box, from_box, element,
                   [&](const Section& at, const Section& of) { fetch(to.common ? at : of); });
    move(to_box, from_box, team.rank(m), m == own, to.layout != from.layout);
  }
  if (!reads)
    for (const Kept& each : kept_)
      mover_.start_put(each.other, each.buffer.get(), walk_packed(each.theirs).turned(), under_way_);
  return {};
}

Status LoneTransfer::check(const Team& team, int executing, const SideOfTeam& here, const std::vector<bool>& may_give) {
  for (int m = executing; m < team.count; ++m)
    if (!here.is_memory() && here.has_any(m) && (direction_ == Direction::in || here.first_giver(m, may_give) < 0))
      return Status::error(
          "rank %d has elements of the %s side and does not execute this gmove; take a section of nodes that do",
          team.rank(m), direction_ == Direction::in ? "left" : "right");
  return {};
}

// `apart`: the sides are different memory.
void LoneTransfer::move(const Box& to, const Box& from, int rank, bool own, bool apart) {
  const bool reads = direction_ == Direction::in;
  for_sections(to, from, element_, [&](const Section& target, const Section& source) {
    const Section &mine = reads ? target : source, &theirs = reads ? source : target;
    const auto offset = static_cast<uint64_t>(theirs.address - world_->base);
    char* const here = own ? theirs.address : world_->reach(rank, offset);
    if (here != nullptr && apart) {
      Walk walk;
      pair_up(target, source, element_, walk);
      return copy(reads ? target.address : here, reads ? here : source.address, walk);
    }
    kept_.push_back({mine, theirs, {rank, offset, here}, std::make_unique_for_overwrite<char[]>(mine.total())});
    Kept& kept = kept_.back();
    if (reads) mover_.start_get(kept.buffer.get(), kept.other, walk_packed(theirs), under_way_);
    else pack(kept.buffer.get(), mine);
  });
}

void LoneTransfer::finish() {
  mover_.await(under_way_);
  for (const Kept& each : kept_)
    if (direction_ == Direction::in) unpack(each.mine, each.buffer.get());
  if (direction_ == Direction::out) world_->transport->fence();
  kept_.clear();
}

}  // namespace hiroba
