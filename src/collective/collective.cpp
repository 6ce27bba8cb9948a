#include "collective/collective.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "collective/trees.hpp"

namespace hiroba {

// FNV-1a.
uint64_t Collective::tag_of(const char* call) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *call != '\0'; ++call) hash = (hash ^ static_cast<unsigned char>(*call)) * 0x100000001b3;
  return hash;
}

struct Collective::Parts {
  Requests requests;
  Trees trees;
};

Collective::Collective() : parts_(std::make_unique<Parts>()) {}
Collective::~Collective() = default;

void Collective::listen(Transport& transport) { parts_->trees.listen(transport); }

void Collective::start(const World& world, uint64_t scratch, uint64_t stride, bool measure) {
  world_ = world;
  world_.rank = world.job.rank, world_.nranks = world.job.nranks;
  world_.spins = spins_for(world.job.ranks_here()), world_.requests = &parts_->requests;
  scratch_ = scratch, stride_ = stride, measure_ = measure;
  words_.resize(static_cast<size_t>(world_.nranks));
  waits_.for_rank.resize(static_cast<size_t>(world_.nranks));
  parts_->requests.start(world_);
  parts_->trees.start(world_);
}

const World& Collective::world() const { return world_; }
Requests& Collective::requests() { return parts_->requests; }

// ---- all ranks -----------------------------------------------------------------------------------------------------

// Every call for all ranks passes here: it is counted and named on the board. What the others call, the exchange
// compares.
Status Collective::come(const char* call) {
  if (split_ != nullptr)
    return Status::error(format("%s after %s and before its end; wait for that first", call, split_));
  RankBoard& self = world_.board->rank(world_.rank);
  std::strncpy(self.where, call, sizeof self.where - 1);
  const uint64_t calls = self.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (measure_) self.came[calls % 2].store(seconds_now(), std::memory_order_relaxed);
  return {};
}

// A wait for all other ranks has ended, so the one that came last to the same call was waited for. Ranks of other
// machines have boards of their own.
void Collective::note_wait(double seconds) {
  Board& board = *world_.board;
  waits_.seconds += seconds;
  const size_t call = board.rank(world_.rank).calls.load(std::memory_order_relaxed) % 2;
  int last = world_.rank;
  for (int r = 0; r < world_.nranks; ++r)
    if (board.rank(r).came[call].load(std::memory_order_relaxed) >
        board.rank(last).came[call].load(std::memory_order_relaxed))
      last = r;
  waits_.for_rank[static_cast<size_t>(last)] += seconds;
}

template <typename Wait>
Status Collective::wait_for_others(const Wait& wait) {
  std::atomic<uint32_t>& waiting = world_.board->rank(world_.rank).waiting;
  waiting.store(1, std::memory_order_relaxed);
  const double begin = measure_ || told_ ? seconds_now() : 0;
  Status status = wait();
  if (told_) told_(seconds_now() - begin);
  if (measure_) note_wait(seconds_now() - begin);
  waiting.store(0, std::memory_order_relaxed);
  return status;
}

template <typename Wait>
Status Collective::enter(const char* call, const Wait& wait) {
  pthread_t nobody{};
  if (!thread_.compare_exchange_strong(nobody, pthread_self()))
    return Status::error(
        format("%s in two threads of this rank at once; collective calls are for one thread: put it "
               "outside of the parallel region, or under `omp master` with barriers of OpenMP around it",
               call));
  HIROBA_TRY(come(call));
  const Status status = wait_for_others(wait);
  thread_.store({});
  return status;
}

Status Collective::exchange(const char* call, uint64_t tag, uint64_t word, std::span<uint64_t> words) {
  return enter(call, [&] { return world_.transport->barrier(tag, word, words); });
}

Status Collective::exchange(const char* call, uint64_t word, std::span<uint64_t> words) {
  return exchange(call, tag_of(call), word, words);
}

Status Collective::barrier(const char* call, uint64_t tag) { return exchange(call, tag, 0, words_); }
Status Collective::barrier(const char* call) { return barrier(call, tag_of(call)); }

Status Collective::start_barrier(const char* call, uint64_t tag) {
  HIROBA_TRY(come(call));
  world_.transport->start_barrier(tag, 0);
  split_ = call;
  return {};
}

Status Collective::end_barrier() {
  assert(split_ != nullptr);
  split_ = nullptr;
  return wait_for_others([&] { return world_.transport->end_barrier(words_); });
}

Status Collective::group_barrier(const char* call, std::span<const int> others) {
  return enter(call, [&] { return world_.transport->group_barrier(tag_of(call), others); });
}

// In turns through the two rooms of each rank: when all have met for one part, all have read the part before it.
Status Collective::gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all) {
  HIROBA_TRY(exchange(call, mine.size(), words_));
  const std::vector<uint64_t> sizes = words_;
  const uint64_t most = *std::max_element(sizes.begin(), sizes.end());
  all.assign(sizes.size(), {});
  for (size_t r = 0; r < sizes.size(); ++r) all[r].resize(sizes[r]);
  const auto part_of = [](uint64_t size, uint64_t done) {
    return size <= done ? 0 : std::min(room_bytes, size - done);
  };
  for (uint64_t done = 0, turn = 0; done < most; done += room_bytes, ++turn) {
    const int half = static_cast<int>(turn % 2);
    const uint64_t part = part_of(mine.size(), done);
    if (part > 0) std::memcpy(world_.base + room(world_.rank, half), mine.data() + done, part);
    HIROBA_TRY(barrier(call, tag_of(call) + 1));
    for (int r = 0; r < world_.nranks; ++r) {
      std::vector<char>& theirs = all[static_cast<size_t>(r)];
      const uint64_t bytes = part_of(theirs.size(), done);
      if (bytes > 0) read_room(r, half, 0, theirs.data() + done, bytes);
    }
  }
  return barrier(call, tag_of(call) + 2);  // the rooms may be filled again
}

// ---- teams ---------------------------------------------------------------------------------------------------------

Sequence Collective::begin_sequence(const Team& team, uint64_t operations, const char* what) {
  return parts_->trees.begin_sequence(team, operations, what);
}

Started Collective::start_barrier(const Sequence& sequence, int which, const Words& words, Join join) {
  return parts_->trees.start_barrier(sequence, which, words, join);
}

Started Collective::start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine,
                                 const char* what) {
  return parts_->trees.start_reduce(team, data, count, combine, what);
}

Started Collective::start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what) {
  return parts_->trees.start_broadcast(team, root, data, bytes, what);
}

const size_t Collective::most_started = Parcels::most_bytes;

Status Collective::finish(const Started& started, const Call& call) {
  HIROBA_TRY(world_.await([&] { return started.done() || !started.agrees().ok(); },
                          [&] { return call.text() + ": " + started.missing(); }));
  return started.agrees();
}

Status Collective::barrier(const Team& team, const Call& call) {
  if (team.count == 1) return {};
  if (team.is_all(world_.nranks)) return exchange(call.name, 0, words_);
  HIROBA_TRY(parts_->trees.none_left(team, call));
  return finish(start_barrier(begin_sequence(team, 1, call.name), 0, {}, nullptr), call);
}

Status Collective::barrier(const Team& team, const Call& call, Words& words, Join join) {
  if (team.count == 1) return {};
  HIROBA_TRY(parts_->trees.none_left(team, call));
  const Started met = start_barrier(begin_sequence(team, 1, "a barrier"), 0, words, join);
  HIROBA_TRY(finish(met, call));
  words = met.words();
  return {};
}

Status Combine::make(Type type, Op op, Combine& out) {
  return Arithmetic::make(static_cast<int>(type), static_cast<int>(type), static_cast<int>(op), out.arithmetic);
}

void Combine::operator()(char* mine, const char* theirs, int64_t count) const {
  const auto stride = static_cast<int64_t>(element());
  if (record == 0) return arithmetic.apply(mine, stride, theirs, stride, count);
  for (; count > 0; --count, mine += stride, theirs += stride)
    if (arithmetic.prefers(theirs, mine)) std::memcpy(mine, theirs, record);
}

// ---- reduction -----------------------------------------------------------------------------------------------------

Status Collective::reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call) {
  if (team.count == 1) return {};
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  if (bytes <= sizeof(uint64_t) && count == 1 && team.is_all(world_.nranks))
    return reduce_word(team, data, combine, call);
  if (bytes > Parcels::most_bytes) return reduce_room(team, data, count, combine, call);
  HIROBA_TRY(parts_->trees.none_left(team, call));
  const Started reduced = start_reduce(team, data, count, combine, call.name);
  HIROBA_TRY(finish(reduced, call));
  std::memcpy(data, reduced.data(), bytes);
  return {};
}

// A word of each rank in one exchange.
Status Collective::reduce_word(const Team& team, char* data, const Combine& combine, const Call& call) {
  uint64_t word = 0;
  std::memcpy(&word, data, combine.element());
  HIROBA_TRY(exchange(call.name, word, words_));
  std::memcpy(data, &words_[0], combine.element());
  for (int i = 1; i < team.count; ++i) combine(data, reinterpret_cast<const char*>(&words_[static_cast<size_t>(i)]), 1);
  return {};
}

uint64_t Collective::room(int rank, int half) const {
  return scratch_ + static_cast<uint64_t>(rank) * stride_ + static_cast<uint64_t>(half) * room_bytes;
}

void Collective::read_room(int rank, int half, uint64_t at, char* to, size_t bytes) const {
  const uint64_t offset = room(rank, half) + at;
  if (world_.near(rank)) std::memcpy(to, world_.base + offset, bytes);
  else world_.transport->get(to, rank, offset, bytes);
}

// Room 0 holds what each rank has, room 1 the results of its slice.
Status Collective::reduce_room(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call) {
  const size_t element = combine.element();
  const int me = team.find(world_.rank);
  const auto most = static_cast<int64_t>(room_bytes / element);
  for (int64_t done = 0; done < count; done += most) {
    const int64_t part = std::min(most, count - done), slice = (part + team.count - 1) / team.count;
    char* const at = data + static_cast<size_t>(done) * element;
    std::memcpy(world_.base + room(world_.rank, 0), at, static_cast<size_t>(part) * element);
    HIROBA_TRY(barrier(team, call));
    HIROBA_TRY(
        reduce_slice(team, std::min(part, me * slice), std::min(slice, part - std::min(part, me * slice)), combine));
    HIROBA_TRY(barrier(team, call));
    for (int i = 0; i < team.count; ++i) {
      const int64_t first = std::min(part, i * slice), n = std::min(slice, part - first);
      const size_t from = static_cast<size_t>(first) * element;
      if (n > 0) read_room(team.rank(i), 1, from, at + from, static_cast<size_t>(n) * element);
    }
  }
  // A later operation may fill the rooms again.
  return barrier(team, call);
}

Status Collective::reduce_slice(const Team& team, int64_t first, int64_t count, const Combine& combine) {
  const size_t element = combine.element(), bytes = static_cast<size_t>(count) * element;
  const uint64_t from = static_cast<uint64_t>(first) * element;
  if (count <= 0) return {};
  char* const result = world_.base + room(world_.rank, 1) + from;
  read_room(team.rank(0), 0, from, result, bytes);
  for (int i = 1; i < team.count; ++i) {
    const int rank = team.rank(i);
    if (world_.near(rank)) {
      combine(result, world_.base + room(rank, 0) + from, count);
      continue;
    }
    buffer_.resize(bytes);
    read_room(rank, 0, from, buffer_.data(), bytes);
    combine(result, buffer_.data(), count);
  }
  return {};
}

// ---- broadcast -----------------------------------------------------------------------------------------------------

Status Collective::broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call) {
  if (team.count == 1) return {};
  const int owner = team.rank(root);
  if (bytes <= Parcels::most_bytes) {
    HIROBA_TRY(parts_->trees.none_left(team, call));
    const Started sent = start_broadcast(team, root, data, bytes, call.name);
    HIROBA_TRY(finish(sent, call));
    if (owner != world_.rank && bytes > 0) std::memcpy(data, sent.data(), bytes);
    return {};
  }
  // In turns through the two rooms of the root: when all have met for one part, all have read the part before it.
  for (size_t done = 0, turn = 0; done < bytes; done += room_bytes, ++turn) {
    const size_t part = std::min<size_t>(room_bytes, bytes - done);
    const int half = static_cast<int>(turn % 2);
    if (owner == world_.rank) std::memcpy(world_.base + room(owner, half), data + done, part);
    HIROBA_TRY(barrier(team, call));
    if (owner != world_.rank) read_room(owner, half, 0, data + done, part);
  }
  return barrier(team, call);
}

}  // namespace hiroba
