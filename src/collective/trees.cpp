#include "collective/trees.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

void Trees::start(const World& world) {
  world_ = &world;
  parcels_.start(world);
}

Sequence Trees::begin_sequence(const Team& team, uint64_t operations, const char* what) {
  const uint64_t name = team.name(), number = numbers_[name];
  numbers_[name] += operations;
  return {team, team.find(world_->rank), name, number, what};
}

Started Trees::make(const char* what) const {
  Started out;
  out.work_ = std::make_shared<Started::Work>(), out.lanes_ = std::make_shared<Started::Lanes>();
  out.work_->what = what, out.work_->rank = world_->rank, out.work_->token = token_;
  return out;
}

Status Trees::none_left(const Team& team, const Call& call) {
  const uint64_t name = team.name();
  return token_.use_count() > 1 ? Status() : parcels_.none_left({name, numbers_[name] << Parcels::kind_bits, ""}, call);
}

bool Started::done() const {
  return std::all_of(lanes_->lanes.begin(), lanes_->lanes.end(), [](const Operation& lane) { return lane.done(); });
}

std::string Started::missing() const {
  for (const Operation& lane : lanes_->lanes)
    if (!lane.done()) return format("rank %d has not come", lane.awaited());
  return "it is done";
}

Status Started::agrees() const {
  for (const Operation& lane : lanes_->lanes)
    if (const Other* const other = lane.other(); other != nullptr)
      return Parcels::calls_differ(
          format("rank %d is in %s, rank %d is in %s", other->rank, other->what, work_->rank, work_->what.c_str()));
  return {};
}

const char* Started::data() const { return work_->data.data(); }
const Words& Started::words() const { return work_->words; }

// ---- operations ----------------------------------------------------------------------------------------------------

namespace {

// Two ranks exchange at most one parcel of each kind for one number.
enum Kind : uint64_t { up, down, taken, first_step };

Parcels::Key key(const Sequence& sequence, size_t operation, uint64_t kind) {
  return {sequence.name, (sequence.number + operation) << Parcels::kind_bits | kind, sequence.what};
}

// Of a tree over the members 0..count-1, counted from its root, where a member is: member 0 is the root, and the
// children of i are i + 1, i + 2, i + 4, ... below the lowest bit of i. Those of a child follow it, before the next
// child.
struct Tree {
  int parent = -1, children = 0;
  int child[32];
  Tree(int me, int count) {
    int distance = 1;
    for (; distance < count && (me & distance) == 0; distance *= 2)
      if (me + distance < count) child[children++] = me + distance;
    if (me > 0) parent = me - distance;
  }
};

}  // namespace

// In step k every member sends to the one 2^k after it, and receives from the one 2^k before it.
Operation Trees::barrier(Sequence sequence, Work work) {
  const int n = sequence.team.count;
  Words other(work->words.size());
  const size_t bytes = other.size() * sizeof other[0];
  for (uint64_t step = first_step, distance = 1; distance < static_cast<uint64_t>(n); ++step, distance *= 2) {
    const int d = static_cast<int>(distance);
    parcels_.send(sequence.team.rank((sequence.me + d) % n), key(sequence, 0, step), work->words.data(), bytes);
    co_await parcels_.receive(sequence.team.rank((sequence.me - d + n) % n), key(sequence, 0, step), other.data(),
                              bytes);
    if (bytes > 0) work->join(work->words, other);
  }
}

// To member 0 and back. A member holds the result of itself and of those after it, so the order is that of the members.
Operation Trees::reduce_lane(Sequence sequence, Work work, Chunks chunks, size_t lane) {
  const Tree tree(sequence.me, sequence.team.count);
  const size_t element = work->combine.element();
  std::vector<char> theirs(tree.children > 0 ? chunks.each : 0);
  for (size_t c = lane; c < chunks.count; c += chunks.lanes) {
    char* const mine = work->data.data() + chunks.at(c);
    const size_t bytes = chunks.of(c);
    for (int i = 0; i < tree.children; ++i) {
      co_await parcels_.receive(sequence.team.rank(tree.child[i]), key(sequence, c, up), theirs.data(), bytes);
      work->combine(mine, theirs.data(), static_cast<int64_t>(bytes / element));
    }
    if (tree.parent >= 0) {
      parcels_.send(sequence.team.rank(tree.parent), key(sequence, c, up), mine, bytes);
      co_await parcels_.receive(sequence.team.rank(tree.parent), key(sequence, c, down), mine, bytes);
    }
    for (int i = tree.children; i-- > 0;)
      parcels_.send(sequence.team.rank(tree.child[i]), key(sequence, c, down), mine, bytes);
  }
}

// From the second chunk of a lane on, a child must have taken the one before; so not much is under way at once.
Operation Trees::broadcast_lane(Sequence sequence, int root, Work work, Chunks chunks, size_t lane) {
  const int n = sequence.team.count;
  const Tree tree((sequence.me - root + n) % n, n);
  const auto rank = [&sequence, root, n](int relative) { return sequence.team.rank((relative + root) % n); };
  for (size_t c = lane; c < chunks.count; c += chunks.lanes) {
    char* const data = work->data.data() + chunks.at(c);
    if (tree.parent >= 0) co_await parcels_.receive(rank(tree.parent), key(sequence, c, down), data, chunks.of(c));
    if (tree.parent >= 0 && c + chunks.lanes < chunks.count)
      parcels_.send(rank(tree.parent), key(sequence, c, taken), nullptr, 0);
    for (int i = tree.children; i-- > 0;) {
      if (c > lane) co_await parcels_.receive(rank(tree.child[i]), key(sequence, c - chunks.lanes, taken), nullptr, 0);
      parcels_.send(rank(tree.child[i]), key(sequence, c, down), data, chunks.of(c));
    }
  }
}

// ---- what is started -----------------------------------------------------------------------------------------------

Trees::Chunks::Chunks(size_t all_bytes, size_t element) {
  constexpr size_t most_lanes = 8;
  bytes = all_bytes, each = Parcels::most_bytes / element * element;
  count = std::max<size_t>(1, (bytes + each - 1) / each);  // of nothing, too, so that others can compare
  lanes = std::min(most_lanes, count);
}

Started Trees::start_barrier(const Sequence& sequence, int which, const Words& words, Join join) {
  Started out = make(sequence.what);
  out.work_->words = words, out.work_->join = join;
  Sequence one = sequence;
  one.number += static_cast<uint64_t>(which);
  if (sequence.team.count > 1) out.lanes_->lanes.push_back(barrier(one, out.work_));
  return out;
}

Started Trees::start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine,
                            const char* what) {
  Started out = make(what);
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  out.work_->data.assign(data, data + bytes), out.work_->combine = combine;
  if (team.count == 1 || count == 0) return out;
  const Chunks chunks(bytes, combine.element());
  const Sequence sequence = begin_sequence(team, chunks.count, out.work_->what.c_str());
  for (size_t lane = 0; lane < chunks.lanes; ++lane)
    out.lanes_->lanes.push_back(reduce_lane(sequence, out.work_, chunks, lane));
  return out;
}

Started Trees::start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what) {
  Started out = make(what);
  out.work_->data.resize(bytes);
  if (team.rank(root) == world_->rank && bytes > 0) std::memcpy(out.work_->data.data(), data, bytes);
  if (team.count == 1) return out;
  const Chunks chunks(bytes, 1);
  const Sequence sequence = begin_sequence(team, chunks.count, out.work_->what.c_str());
  for (size_t lane = 0; lane < chunks.lanes; ++lane)
    out.lanes_->lanes.push_back(broadcast_lane(sequence, root, out.work_, chunks, lane));
  return out;
}

}  // namespace hiroba
