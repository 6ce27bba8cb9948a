#include "collective/plans/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/debug/peek.hpp"

namespace hiroba {

// ---- staging -------------------------------------------------------------------------------------------------------

// Rotates through the first `turn` bytes, if there is room: memory that others have just read is slower to write.
bool Staging::allocate(uint64_t bytes, uint64_t& offset) {
  if (next_ > first_ + turn) next_ = first_;
  const auto fits = [&](const auto& room) {
    return std::min(room.second, room.first + room.second - std::max(room.first, next_)) >= bytes &&
           room.first + room.second > next_;
  };
  const std::map<uint64_t, uint64_t>& ranges = free_.ranges();
  auto at = std::find_if(ranges.begin(), ranges.end(), fits);
  if (at == ranges.end()) next_ = first_, at = std::find_if(ranges.begin(), ranges.end(), fits);
  if (at == ranges.end()) return false;
  offset = std::max(at->first, next_);
  free_.remove(offset, bytes);
  next_ = offset + bytes;
  return true;
}

// ---- parcels -------------------------------------------------------------------------------------------------------

// Locates a piece of a block: by its home and offset, or by the giver and an address or the number of a transfer. Eager
// data follows this header. `bytes`: size of the whole block.
struct Exchange::Here {
  Form form;
  uint64_t rank, offset, bytes;
};

namespace {

enum Kind : uint64_t { here, taken };

Parcels::Key key(const Sequence& sequence, size_t phase, size_t round, Kind kind) {
  constexpr int phase_bits = 5, phase_at = Parcels::kind_bits - phase_bits;
  static_assert(Plan::most_phases <= 1 << phase_bits);
  return {sequence.name, sequence.number << Parcels::kind_bits | phase << phase_at | round << 2 | kind, sequence.digest,
          sequence.what};
}

constexpr size_t least_piece = size_t{16} << 10, most_piece = size_t{256} << 10, pieces_of_all = size_t{1} << 20;

// All members compute the same size.
size_t piece_of(const Step& phase, int members) {
  const size_t piece = std::clamp(pieces_of_all / static_cast<size_t>(members), least_piece, most_piece);
  const size_t element = phase.combine ? phase.combine->element() : 1;
  return std::max(piece / element, size_t{1}) * element;
}

size_t rounds_of(size_t bytes, size_t piece) { return (bytes + piece - 1) / piece; }

}  // namespace

void Exchange::start(const World& world, Parcels& parcels, Operations& operations, uint64_t staging, uint64_t bytes) {
  world_ = &world, parcels_ = &parcels, operations_ = &operations;
  staging_.start(staging, bytes);
}

void Exchange::send_here(Running& running, size_t phase, int member, size_t round, const Here& here,
                         std::span<const char> data) {
  constexpr const char* ways[] = {"in messages", "read where they are", "copied by the kernel", "moved by the network",
                                  "by way of shared memory"};
  if (running.way.load(std::memory_order_relaxed) == nullptr) running.way.store(ways[here.form]);
  const Sequence& s = running.sequence;
  parcels_->send(s.team.rank(member), key(s, phase, round, Kind::here),
                 {reinterpret_cast<const char*>(&here), sizeof here}, data);
}

void Exchange::send_taken(const Running& running, size_t phase, int member, size_t round) {
  const Sequence& s = running.sequence;
  parcels_->send(s.team.rank(member), key(s, phase, round, taken), {});
}

Parcels::Receive Exchange::receive_taken(const Running& running, size_t phase, int member, size_t round) {
  const Sequence& s = running.sequence;
  return parcels_->receive(s.team.rank(member), key(s, phase, round, taken), nullptr, 0);
}

// ---- giving --------------------------------------------------------------------------------------------------------

Exchange::Here Exchange::here_of(int rank, const char* block, size_t bytes) const {
  Here at = {Form::eager, static_cast<uint64_t>(world_->rank), 0, bytes};
  if (bytes <= parcels_->most_bytes_to(rank) - sizeof(Here)) return at;
  const int allocator = world_->allocator_of(block);
  const bool reaches = world_->reaches(rank), is_shared = allocator >= 0 || world_->is_shared(block);
  const int home = allocator >= 0 ? allocator : is_shared ? world_->home_of(block, bytes) : -1;
  const bool stays = !is_shared || home >= 0;  // no page of it is fetched or dropped
  at.form = Form::staged;
  if (!reaches && stays && world_->transport->two_sided() != nullptr) {
    at.form = Form::sent;
  } else if (is_shared && stays) {
    at.form = Form::direct;
    at.rank = static_cast<uint64_t>(home), at.offset = static_cast<uint64_t>(block - world_->base);
  } else if (!is_shared && reaches && peeks_processes()) {
    at.form = Form::peeked;
    at.offset = reinterpret_cast<uint64_t>(block);
  }
  return at;
}

Operation Exchange::give(RunningPtr running, size_t p) {
  const Step& phase = running->phases[p];
  const int n = running->sequence.team.count, me = running->sequence.me;
  const size_t piece = piece_of(phase, n);
  std::vector<int> read, staged;
  Completion sent;
  size_t most = 0;
  for (int d = 1; d < n; ++d) {
    const int i = (me + d) % n;
    const size_t bytes = phase.give.bytes_of(i);
    char* const block = phase.give.of(i);
    if (bytes == 0) continue;
    const int rank = running->sequence.team.rank(i);
    Here at = here_of(rank, block, bytes);
    switch (at.form) {
      case Form::eager: send_here(*running, p, i, 0, at, {block, bytes}); break;
      case Form::direct:
      case Form::peeked:
        send_here(*running, p, i, 0, at);
        read.push_back(i);
        break;
      case Form::sent: {
        std::optional<uint32_t> number;
        const auto start = [&] {
          return (number = world_->transport->two_sided()->start_send(rank, block, bytes, sent)).has_value();
        };
        if (!start()) co_await Until(start);
        at.offset = *number;
        send_here(*running, p, i, 0, at);
        break;
      }
      case Form::staged:
        staged.push_back(i);
        most = std::max(most, bytes);
        break;
    }
  }
  // Allocates two pieces for each, so that one is filled while the other is read.
  const size_t slots = staged.empty() ? 0 : phase.same ? 1 : staged.size();
  const uint64_t room = (2 * slots * piece + 63) / 64 * 64;  // the next allocation is aligned for any number
  if (!staged.empty()) running->stages = true;
  uint64_t offset = 0;
  if (room > 0) co_await Until([&] { return staging_.allocate(room, offset); });
  const size_t rounds = rounds_of(most, piece);
  for (size_t k = 0; k < rounds; ++k) {
    for (size_t s = 0; s < staged.size(); ++s) {
      const int i = staged[s];
      const size_t bytes = phase.give.bytes_of(i);
      if (k * piece >= bytes) continue;
      if (k >= 2 && (!phase.same || s == 0))
        for (size_t t = s; t < (phase.same ? staged.size() : s + 1); ++t)
          co_await receive_taken(*running, p, staged[t], k - 2);
      const uint64_t slot = offset + (k % 2 * slots + (phase.same ? 0 : s)) * piece;
      const size_t part = std::min(piece, bytes - k * piece);
      if (!phase.same || s == 0) std::memcpy(world_->base + slot, phase.give.of(i) + k * piece, part);
      send_here(*running, p, i, k, {Form::staged, static_cast<uint64_t>(world_->rank), slot, bytes});
    }
  }
  for (const int i : read) co_await receive_taken(*running, p, i, 0);
  for (const int i : staged) {
    const size_t last = rounds_of(phase.give.bytes_of(i), piece);
    for (size_t k = last < 2 ? 0 : last - 2; k < last; ++k) co_await receive_taken(*running, p, i, k);
  }
  if (room > 0) staging_.release(offset, room);
  co_await Until([&] { return sent.left.load(std::memory_order_acquire) == 0; });
  running.reset();
}

// ---- taking --------------------------------------------------------------------------------------------------------

// State of a member's `take` in one phase.
struct Exchange::Taking {
  struct Source {
    Here at = {};
    std::vector<char> data_sent;      // data in the parcel
    std::unique_ptr<char[]> fetched;  // data from another process
    Completion completion;
    const char* data = nullptr;  // this round's piece
  };

  const World& world;
  const Step& phase;
  const int n, me;
  const size_t piece;
  size_t most = 0;         // bytes of the largest block
  size_t k = 0, done = 0;  // this round, and bytes of the rounds before it
  size_t own_left = 0;     // bytes of the own block that are not copied yet
  std::vector<Source> sources;
  std::vector<const char*> pieces;  // pieces of this round, in order of members, if they are combined
  std::vector<char> own;

  Taking(const World& w, const Step& p, const Sequence& s)
      : world(w), phase(p), n(s.team.count), me(s.me), piece(piece_of(p, n)), sources(static_cast<size_t>(n)) {
    for (int i = 0; i < n; ++i)
      if (i != me || combines()) most = std::max(most, phase.take.bytes_of(i));
    if (!combines() && phase.take.of(me) != phase.give.of(me)) own_left = phase.take.bytes_of(me);
  }
  void copy_own() {
    constexpr size_t part = size_t{256} << 10;
    const size_t at = phase.take.bytes_of(me) - own_left, bytes = std::min(own_left, part);
    std::memmove(phase.take.of(me) + at, phase.give.of(me) + at, bytes);
    own_left -= bytes;
  }
  bool combines() const { return phase.combine.has_value(); }
  // Returns the d-th member to take from: in order if combined, else each taker begins with another one.
  int member(int d) const { return combines() ? d : (me - d + n) % n; }
  Source& source(int i) { return sources[i]; }
  size_t bytes_of(int i) const { return phase.take.bytes_of(i); }
  bool is(Form form, int i) { return source(i).at.form == form; }
  bool is_staged(int i) { return is(Form::staged, i); }
  // Returns true if this round takes data of the member. Blocks that are not staged are copied at once.
  bool has_part(int i) { return done < bytes_of(i) && (k == 0 || combines() || is_staged(i)); }
  size_t part_of(int i) { return combines() || is_staged(i) ? std::min(piece, bytes_of(i) - done) : bytes_of(i); }
  bool needs_parcel(int i) { return k == 0 || is_staged(i); }
  // A taker confirms each staged piece, and the last piece of a block that it reads in place.
  bool confirms(int i) {
    if (is(Form::eager, i) || is(Form::sent, i)) return false;
    return is_staged(i) || done + part_of(i) == bytes_of(i);
  }
  size_t confirmed_round(int i) { return is_staged(i) ? k : 0; }

  void add_own() {
    const char* block = phase.give.of(me) + done;
    // The result overwrites the own block before its turn.
    if (!pieces.empty() && block == phase.take.base + done) own.assign(block, block + part_of(me)), block = own.data();
    pieces.push_back(block);
  }
  // Finds the piece, or begins to fetch it. Fails if its owner does not have it any more.
  Status locate(int i) {
    Source& from = source(i);
    if (is(Form::eager, i)) return from.data = from.data_sent.data() + done, Status();
    const int rank = static_cast<int>(from.at.rank);
    if (is(Form::sent, i)) {  // the whole block, in the first round
      from.data = k > 0 ? from.fetched.get() + done : place_for(i, bytes_of(i));
      if (k > 0) return {};
      world.transport->two_sided()->start_receive(rank, static_cast<uint32_t>(from.at.offset),
                                                  const_cast<char*>(from.data), bytes_of(i), from.completion);
      return {};
    }
    const uint64_t offset = from.at.offset + (is_staged(i) ? 0 : done);
    const bool peeked = is(Form::peeked, i);
    from.data = peeked ? nullptr : world.reach(rank, offset);
    if (from.data != nullptr) return {};
    char* const into = place_for(i, part_of(i));
    from.data = into;
    if (peeked) return peek_process(*world.board, rank, offset, into, part_of(i));
    world.transport->one_sided().start_get(into, rank, offset, part_of(i), from.completion, nullptr);
    return {};
  }
  // The network and the kernel write to no shared memory but what a rank has allocated alone: other ranks would not see
  // their writes.
  char* place_for(int i, size_t bytes) {
    char* const final_place = combines() ? nullptr : phase.take.of(i) + done;
    if (final_place != nullptr && !world.is_shared(final_place)) return final_place;
    source(i).fetched = std::make_unique_for_overwrite<char[]>(bytes);
    return source(i).fetched.get();
  }
  bool arrived(int i) { return source(i).completion.left.load(std::memory_order_acquire) == 0; }
  void accept(int i) {
    if (combines()) return pieces.push_back(source(i).data);
    char* const to = phase.take.of(i) + done;
    if (source(i).data != to) std::memcpy(to, source(i).data, part_of(i));
  }
  void combine() {
    if (combines() && !pieces.empty()) phase.combine->all(phase.take.base + done, pieces, std::min(piece, most - done));
    pieces.clear();
  }
};

// Each round first locates all pieces, so that transfers from other machines overlap.
Operation Exchange::take(RunningPtr running, size_t p) {
  const Sequence& s = running->sequence;
  Operation::promise_type& self = co_await OwnPromise();
  Taking taking(*world_, running->phases[p], s);
  for (; taking.done < taking.most || taking.own_left > 0; ++taking.k, taking.done += taking.piece) {
    for (int d = 0; d < taking.n; ++d) {
      const int i = taking.member(d), rank = s.team.rank(i);
      if (i == taking.me || !taking.has_part(i)) continue;
      Taking::Source& source = taking.source(i);
      if (taking.needs_parcel(i)) {
        co_await parcels_->receive(rank, key(s, p, taking.k, here), &source.at, sizeof source.at, &source.data_sent);
        if (source.at.bytes != taking.bytes_of(i)) {
          self.other.stop(rank, format("%s and gives %lu bytes where %zu are taken", s.what, source.at.bytes,
                                       taking.bytes_of(i)));
          co_await Until([] { return false; });
        }
      }
      if (const Status status = taking.locate(i); !status.ok()) {
        self.other.stop(rank, format("%s and has given back its buffer: %s", s.what, status.message().c_str()));
        co_await Until([] { return false; });
      }
    }
    // Copies while the others' data moves; the network needs this thread at intervals.
    for (uint64_t turn = operations_->turns(); taking.own_left > 0; turn = operations_->turns()) {
      taking.copy_own();
      if (taking.own_left > 0) co_await Until([&] { return operations_->turns() != turn; });
    }
    for (int d = 0; d < taking.n; ++d) {
      const int i = taking.member(d);
      if (!taking.has_part(i)) continue;
      if (i == taking.me) {
        if (taking.combines()) taking.add_own();
        continue;
      }
      if (!taking.arrived(i)) co_await Until([&] { return taking.arrived(i); });
      taking.accept(i);
      if (!taking.combines() && taking.confirms(i)) send_taken(*running, p, i, taking.confirmed_round(i));
    }
    taking.combine();
    for (int i = 0; taking.combines() && i < taking.n; ++i)
      if (i != taking.me && taking.has_part(i) && taking.confirms(i))
        send_taken(*running, p, i, taking.confirmed_round(i));
  }
  running.reset();
}

// ---- phases --------------------------------------------------------------------------------------------------------

// Starts the two sides of this member, if they are not empty.
void Exchange::start_phase(const RunningPtr& running, size_t phase) {
  const Step& step = running->phases[phase];
  const int members = running->sequence.team.count;
  const auto start = [&](Operation operation) {
    operations_->enlist(operation);
    running->add(std::move(operation));
  };
  if (step.give.any_but(running->sequence.me, members)) start(give(running, phase));
  if (step.take.any_but(-1, members)) start(take(running, phase));
}

Operation Exchange::run(RunningPtr running) {
  for (size_t p = 0; p < running->phases.size(); ++p) {
    const size_t first = running->count.load(std::memory_order_relaxed);
    start_phase(running, p);
    co_await Until([&] {
      for (size_t i = first; i < running->count.load(std::memory_order_relaxed); ++i)
        if (!running->operations[i]->done()) return false;
      return true;
    });
  }
  running.reset();
}

}  // namespace hiroba
