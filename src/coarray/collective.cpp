#include "coarray/collective.hpp"

#include <algorithm>
#include <cstring>

namespace hiroba {

void Collective::start(const World& world, const Control& control, Mail& mail, Checker& checker) {
  world_ = &world, control_ = &control, mail_ = &mail, checker_ = &checker;
  words_.resize(static_cast<size_t>(world.nranks));
}

Collective::Team Collective::gather_team(const ImageSet& set, const Call& call) {
  const uint64_t name = set.name();
  return {set, call, call.name, set.find(world_->rank), name, numbers_[name]++};
}

// Steps of an operation have keys of their own; there are fewer than 256.
Mail::Key Collective::key(const Team& team, int step) const {
  return {team.name, team.number << 8 | static_cast<uint64_t>(step), team.what};
}

// ---- barrier -------------------------------------------------------------------------------------------------------

// In step k every image tells the one 2^k further and hears from the one 2^k before.
Status Collective::barrier(const ImageSet& set, const Call& call, bool synchronises) {
  if (set.count == 1) return {};
  if (set.is_all(world_->nranks)) return world_->memory->exchange(0, words_, call.name);
  Team team = gather_team(set, call);
  HIROBA_TRY(mail_->none_left(key(team, 0), call));
  if (synchronises) team.what = "a barrier";  // whatever the program calls it
  Checker::Stamp stamp = synchronises ? checker_->release() : Checker::Stamp();
  Checker::Stamp other(stamp.size());
  const size_t bytes = stamp.size() * sizeof(uint32_t);
  for (int step = 0, distance = 1; distance < set.count; ++step, distance *= 2) {
    const int to = set.rank((team.me + distance) % set.count);
    const int from = set.rank((team.me - distance + set.count) % set.count);
    mail_->send(to, key(team, step), stamp.data(), bytes);
    HIROBA_TRY(mail_->receive(from, key(team, step), other.data(), bytes, call));
    if (bytes > 0) Checker::join(stamp, other);
  }
  checker_->acquire(stamp);
  return {};
}

// ---- reduction -----------------------------------------------------------------------------------------------------

Status Collective::reduce(const ImageSet& set, char* data, int64_t count, const Combine& combine, const Call& call) {
  if (set.count == 1) return {};
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  if (bytes <= sizeof(uint64_t) && count == 1 && set.is_all(world_->nranks))
    return reduce_word(set, data, combine, call);
  if (bytes > Mail::most_parcel) return reduce_room(set, data, count, combine, call);
  Team team = gather_team(set, call);
  HIROBA_TRY(mail_->none_left(key(team, 0), call));
  HIROBA_TRY(reduce_tree(team, data, count, combine));
  return broadcast_tree(team, 0, data, bytes, 128);
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

// To image 0. An image holds the result of itself and of those behind it, so the order is that of the images.
Status Collective::reduce_tree(Team& team, char* data, int64_t count, const Combine& combine) {
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  alignas(16) char theirs[Mail::most_parcel];
  for (int step = 0, distance = 1; distance < team.set.count; ++step, distance *= 2) {
    if ((team.me & distance) != 0) {
      mail_->send(team.set.rank(team.me - distance), key(team, step), data, bytes);
      return {};
    }
    if (team.me + distance >= team.set.count) continue;
    HIROBA_TRY(mail_->receive(team.set.rank(team.me + distance), key(team, step), theirs, bytes, team.call));
    combine(data, theirs, count);
  }
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
        reduce_slice(set, me, std::min(part, me * slice), std::min(slice, part - std::min(part, me * slice)), combine));
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

Status Collective::reduce_slice(const ImageSet& set, int me, int64_t first, int64_t count, const Combine& combine) {
  const size_t element = combine.element(), bytes = static_cast<size_t>(count) * element;
  const uint64_t from = static_cast<uint64_t>(first) * element;
  if (count <= 0) return {};
  (void)me;
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

Status Collective::broadcast_tree(Team& team, int root, char* data, size_t bytes, int step) {
  const int n = team.set.count, me = (team.me - root + n) % n;
  const auto rank = [&](int relative) { return team.set.rank((relative + root) % n); };
  int distance = 1;
  while (distance < n) distance *= 2;
  for (int k = step; distance > 0; distance /= 2, ++k) {
    if (me % (2 * distance) == 0 && me + distance < n) {
      mail_->send(rank(me + distance), key(team, k), data, bytes);
    } else if (me % (2 * distance) == distance) {
      HIROBA_TRY(mail_->receive(rank(me - distance), key(team, k), data, bytes, team.call));
    }
  }
  return {};
}

Status Collective::broadcast(const ImageSet& set, int root, char* data, size_t bytes, const Call& call) {
  if (set.count == 1) return {};
  if (bytes <= Mail::most_parcel) {
    Team team = gather_team(set, call);
    HIROBA_TRY(mail_->none_left(key(team, 0), call));
    return broadcast_tree(team, root, data, bytes, 0);
  }
  const int owner = set.rank(root);
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
