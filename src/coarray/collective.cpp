#include "coarray/collective.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

void Combine::operator()(char* mine, const char* theirs, int64_t count) const {
  const auto stride = static_cast<int64_t>(element());
  if (record == 0) return arithmetic.apply(mine, stride, theirs, stride, count);
  for (; count > 0; --count, mine += stride, theirs += stride)
    if (arithmetic.prefers(theirs, mine)) std::memcpy(mine, theirs, record);
}

void Collective::start(const World& world, const Control& control, Mail& mail, Checker& checker) {
  world_ = &world, control_ = &control, mail_ = &mail, checker_ = &checker;
  words_.resize(static_cast<size_t>(world.nranks));
}

Team Collective::gather_team(const ImageSet& set, uint64_t operations, const char* what) {
  const uint64_t name = set.name(), number = numbers_[name];
  numbers_[name] += operations;
  return {set, set.find(world_->rank), name, number, what};
}

Started Collective::make(const char* what) const {
  Started out;
  out.work_ = std::make_shared<Started::Work>();
  out.work_->what = what, out.work_->rank = world_->rank, out.work_->token = token_;
  return out;
}

// Before the next operation: parcels that nobody has taken were for one that this image was not in; or they are for
// something that was started and has not come so far.
Status Collective::none_left(const ImageSet& set, const Call& call) {
  const uint64_t name = set.name();
  return token_.use_count() > 1 ? Status() : mail_->none_left({name, numbers_[name] << Mail::kind_bits, ""}, call);
}

bool Started::done() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Operation& lane) { return lane.done(); });
}

std::string Started::missing() const {
  for (const Operation& lane : lanes_)
    if (!lane.done()) return format("rank %d has not come", lane.awaited());
  return "it is done";
}

Status Started::agrees() const {
  for (const Operation& lane : lanes_)
    if (const Other* const other = lane.other(); other != nullptr)
      return Mail::calls_differ(
          format("rank %d is in %s, rank %d is in %s", other->rank, other->what, work_->rank, work_->what.c_str()));
  return {};
}

Status Collective::finish(const Started& started, const Call& call) {
  HIROBA_TRY(world_->await([&] { return started.done() || !started.agrees().ok(); },
                           [&] { return call.text() + ": " + started.missing(); }));
  return started.agrees();
}

// ---- operations ----------------------------------------------------------------------------------------------------

namespace {

// Two images exchange at most one parcel of each kind for one number.
enum Kind : uint64_t { up, down, taken, first_step };

Mail::Key key(const Team& team, size_t operation, uint64_t kind) {
  return {team.name, (team.number + operation) << Mail::kind_bits | kind, team.what};
}

// Of a tree over the images 0..count-1, counted from its root, where an image is: image 0 is the root, and the
// children of i are i + 1, i + 2, i + 4, ... below the lowest bit of i. Those of a child are behind it, and before the
// next child.
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

// In step k every image tells the one 2^k further and hears from the one 2^k before.
Operation Collective::meet(Team team, Work work) {
  const int n = team.set.count;
  Checker::Stamp other(work->stamp.size());
  const size_t bytes = other.size() * sizeof other[0];
  for (uint64_t step = first_step, distance = 1; distance < static_cast<uint64_t>(n); ++step, distance *= 2) {
    const int d = static_cast<int>(distance);
    mail_->send(team.set.rank((team.me + d) % n), key(team, 0, step), work->stamp.data(), bytes);
    co_await mail_->parcel(team.set.rank((team.me - d + n) % n), key(team, 0, step), other.data(), bytes);
    if (bytes > 0) Checker::join(work->stamp, other);
  }
}

// To image 0 and back. An image holds the result of itself and of those behind it, so the order is that of the images.
Operation Collective::reduce_lane(Team team, Work work, Chunks chunks, size_t lane) {
  const Tree tree(team.me, team.set.count);
  const size_t element = work->combine.element();
  std::vector<char> theirs(tree.children > 0 ? chunks.each : 0);
  for (size_t c = lane; c < chunks.count; c += chunks.lanes) {
    char* const mine = work->data.data() + chunks.at(c);
    const size_t bytes = chunks.of(c);
    for (int i = 0; i < tree.children; ++i) {
      co_await mail_->parcel(team.set.rank(tree.child[i]), key(team, c, up), theirs.data(), bytes);
      work->combine(mine, theirs.data(), static_cast<int64_t>(bytes / element));
    }
    if (tree.parent >= 0) {
      mail_->send(team.set.rank(tree.parent), key(team, c, up), mine, bytes);
      co_await mail_->parcel(team.set.rank(tree.parent), key(team, c, down), mine, bytes);
    }
    for (int i = tree.children; i-- > 0;) mail_->send(team.set.rank(tree.child[i]), key(team, c, down), mine, bytes);
  }
}

// From the second chunk of a lane on, a child must have taken the one before; so not much is under way at once.
Operation Collective::broadcast_lane(Team team, int root, Work work, Chunks chunks, size_t lane) {
  const int n = team.set.count;
  const Tree tree((team.me - root + n) % n, n);
  const auto rank = [&team, root, n](int relative) { return team.set.rank((relative + root) % n); };
  for (size_t c = lane; c < chunks.count; c += chunks.lanes) {
    char* const data = work->data.data() + chunks.at(c);
    if (tree.parent >= 0) co_await mail_->parcel(rank(tree.parent), key(team, c, down), data, chunks.of(c));
    if (tree.parent >= 0 && c + chunks.lanes < chunks.count)
      mail_->send(rank(tree.parent), key(team, c, taken), nullptr, 0);
    for (int i = tree.children; i-- > 0;) {
      if (c > lane) co_await mail_->parcel(rank(tree.child[i]), key(team, c - chunks.lanes, taken), nullptr, 0);
      mail_->send(rank(tree.child[i]), key(team, c, down), data, chunks.of(c));
    }
  }
}

// ---- what is started -----------------------------------------------------------------------------------------------

Collective::Chunks::Chunks(size_t all_bytes, size_t element) {
  constexpr size_t most_lanes = 8;
  bytes = all_bytes, each = Mail::most_parcel / element * element;
  count = std::max<size_t>(1, (bytes + each - 1) / each);  // of nothing, too, so that others can compare
  lanes = std::min(most_lanes, count);
}

Started Collective::start_barrier(const Team& team, int which, const Checker::Stamp& stamp) {
  Started out = make(team.what);
  out.work_->stamp = stamp;
  Team one = team;
  one.number += static_cast<uint64_t>(which);
  if (team.set.count > 1) out.lanes_.push_back(meet(one, out.work_));
  return out;
}

Started Collective::start_reduce(const ImageSet& set, const char* data, int64_t count, const Combine& combine,
                                 const char* what) {
  Started out = make(what);
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  out.work_->data.assign(data, data + bytes), out.work_->combine = combine;
  if (set.count == 1 || count == 0) return out;
  const Chunks chunks(bytes, combine.element());
  const Team team = gather_team(set, chunks.count, out.work_->what.c_str());
  for (size_t lane = 0; lane < chunks.lanes; ++lane) out.lanes_.push_back(reduce_lane(team, out.work_, chunks, lane));
  return out;
}

Started Collective::start_broadcast(const ImageSet& set, int root, const char* data, size_t bytes, const char* what) {
  Started out = make(what);
  out.work_->data.resize(bytes);
  if (set.rank(root) == world_->rank && bytes > 0) std::memcpy(out.work_->data.data(), data, bytes);
  if (set.count == 1) return out;
  const Chunks chunks(bytes, 1);
  const Team team = gather_team(set, chunks.count, out.work_->what.c_str());
  for (size_t lane = 0; lane < chunks.lanes; ++lane)
    out.lanes_.push_back(broadcast_lane(team, root, out.work_, chunks, lane));
  return out;
}

// ---- barrier -------------------------------------------------------------------------------------------------------

Status Collective::barrier(const ImageSet& set, const Call& call, bool synchronises) {
  if (set.count == 1) return {};
  if (set.is_all(world_->nranks)) return world_->memory->exchange(0, words_, call.name);
  HIROBA_TRY(none_left(set, call));
  const Team team = gather_team(set, 1, synchronises ? "a barrier" : call.name);  // whatever the program calls it
  const Started met = start_barrier(team, 0, synchronises ? checker_->release() : Checker::Stamp());
  HIROBA_TRY(finish(met, call));
  checker_->acquire(met.stamp());
  return {};
}

// ---- reduction -----------------------------------------------------------------------------------------------------

Status Collective::reduce(const ImageSet& set, char* data, int64_t count, const Combine& combine, const Call& call) {
  if (set.count == 1) return {};
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  if (bytes <= sizeof(uint64_t) && count == 1 && set.is_all(world_->nranks))
    return reduce_word(set, data, combine, call);
  if (bytes > Mail::most_parcel) return reduce_room(set, data, count, combine, call);
  HIROBA_TRY(none_left(set, call));
  const Started reduced = start_reduce(set, data, count, combine, call.name);
  HIROBA_TRY(finish(reduced, call));
  std::memcpy(data, reduced.data(), bytes);
  return {};
}

// A word of each rank in one exchange.
Status Collective::reduce_word(const ImageSet& set, char* data, const Combine& combine, const Call& call) {
  uint64_t word = 0;
  std::memcpy(&word, data, combine.element());
  HIROBA_TRY(world_->memory->exchange(word, words_, call.name));
  std::memcpy(data, &words_[0], combine.element());
  for (int i = 1; i < set.count; ++i) combine(data, reinterpret_cast<const char*>(&words_[static_cast<size_t>(i)]), 1);
  return {};
}

void Collective::read_room(int rank, int half, uint64_t at, char* to, size_t bytes) const {
  const uint64_t offset = control_->room_of(rank, half) + at;
  if (world_->near(rank)) std::memcpy(to, world_->base + offset, bytes);
  else world_->transport->get(to, rank, offset, bytes);
}

// Room 0 holds what each image has, room 1 the results of its slice.
Status Collective::reduce_room(const ImageSet& set, char* data, int64_t count, const Combine& combine,
                               const Call& call) {
  const size_t element = combine.element();
  const int me = set.find(world_->rank);
  const auto most = static_cast<int64_t>(Control::room / element);
  for (int64_t done = 0; done < count; done += most) {
    const int64_t part = std::min(most, count - done), slice = (part + set.count - 1) / set.count;
    char* const at = data + static_cast<size_t>(done) * element;
    std::memcpy(world_->base + control_->room_of(world_->rank, 0), at, static_cast<size_t>(part) * element);
    HIROBA_TRY(barrier(set, call));
    HIROBA_TRY(
        reduce_slice(set, std::min(part, me * slice), std::min(slice, part - std::min(part, me * slice)), combine));
    HIROBA_TRY(barrier(set, call));
    for (int i = 0; i < set.count; ++i) {
      const int64_t first = std::min(part, i * slice), n = std::min(slice, part - first);
      const size_t from = static_cast<size_t>(first) * element;
      if (n > 0) read_room(set.rank(i), 1, from, at + from, static_cast<size_t>(n) * element);
    }
  }
  // A later operation may fill the rooms again.
  return barrier(set, call);
}

Status Collective::reduce_slice(const ImageSet& set, int64_t first, int64_t count, const Combine& combine) {
  const size_t element = combine.element(), bytes = static_cast<size_t>(count) * element;
  const uint64_t from = static_cast<uint64_t>(first) * element;
  if (count <= 0) return {};
  char* const result = world_->base + control_->room_of(world_->rank, 1) + from;
  read_room(set.rank(0), 0, from, result, bytes);
  for (int i = 1; i < set.count; ++i) {
    const int rank = set.rank(i);
    if (world_->near(rank)) {
      combine(result, world_->base + control_->room_of(rank, 0) + from, count);
      continue;
    }
    buffer_.resize(bytes);
    read_room(rank, 0, from, buffer_.data(), bytes);
    combine(result, buffer_.data(), count);
  }
  return {};
}

// ---- broadcast -----------------------------------------------------------------------------------------------------

Status Collective::broadcast(const ImageSet& set, int root, char* data, size_t bytes, const Call& call) {
  if (set.count == 1) return {};
  const int owner = set.rank(root);
  if (bytes <= Mail::most_parcel) {
    HIROBA_TRY(none_left(set, call));
    const Started sent = start_broadcast(set, root, data, bytes, call.name);
    HIROBA_TRY(finish(sent, call));
    if (owner != world_->rank && bytes > 0) std::memcpy(data, sent.data(), bytes);
    return {};
  }
  // In turns through the two rooms of the root: when all have met for one part, all have read the part before it.
  for (size_t done = 0, turn = 0; done < bytes; done += Control::room, ++turn) {
    const size_t part = std::min<size_t>(Control::room, bytes - done);
    const int half = static_cast<int>(turn % 2);
    if (owner == world_->rank) std::memcpy(world_->base + control_->room_of(owner, half), data + done, part);
    HIROBA_TRY(barrier(set, call));
    if (owner != world_->rank) read_room(owner, half, 0, data + done, part);
  }
  return barrier(set, call);
}

}  // namespace hiroba
