#include "memory/sync/locks.hpp"

#include <algorithm>

#include "base/record/record.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "memory/parts.hpp"
#include "memory/sync/coherence_time.hpp"

namespace hiroba {

// One message fetches all of it, because it is contiguous.
struct Locks::Beside {
  static constexpr size_t few_nodes = 64;

  explicit Beside(const MemoryParts& parts) {
    const size_t words = parts.cache == nullptr ? 1 : 1 + static_cast<size_t>(parts.job.nnodes);
    if (words > room.size()) more.resize(words);
    all = words > room.size() ? std::span(more) : std::span(room).first(words);
  }
  Beside(const Beside&) = delete;

  void read(const MemoryParts& parts, int index) {
    parts.transport->get(all.data(), parts.layout.lock_rank(index), parts.layout.lock(index) + Layout::lock_holder,
                         all.size_bytes());
  }
  uint32_t holder() const { return static_cast<uint32_t>(all[0]); }
  uint32_t sharers() const { return static_cast<uint32_t>(all[0] >> 32); }
  std::span<uint64_t> vector() const { return all.subspan(1); }

  std::array<uint64_t, few_nodes> room;
  std::vector<uint64_t> more;
  std::span<uint64_t> all;
};

Locks::Locks(MemoryParts& parts) : parts_(parts), holds_(Layout::locks + Layout::onces), done_(Layout::onces) {}

TicketLock Locks::ticket_lock(int index) const {
  return {parts_.collective.world(), parts_.layout.lock_rank(index), parts_.layout.lock(index)};
}

Status Locks::check_id(int id, const char* call) {
  if (id >= 0 && id < static_cast<int>(Layout::locks)) return {};
  return Status::error("%s: lock %d does not exist; locks are 0..%d", call, id, static_cast<int>(Layout::locks) - 1);
}

bool Locks::holds(int id) const {
  return holds_[static_cast<size_t>(id)].thread.load(std::memory_order_relaxed) == this_thread();
}

Status Locks::check(int id, bool held, const char* call) const {
  HIROBA_TRY(check_id(id, call));
  if (held && !holds(id))
    return Status::error("%s(%d) by a thread that does not hold lock %d; unlock in the thread that locked", call, id,
                         id);
  if (!held && holds(id))
    return Status::error("%s(%d) by the thread that holds lock %d already; locks are not recursive", call, id, id);
  return held ? Status() : check_not_shared(id, call);
}

Status Locks::check_not_shared(int id, const char* call) const {
  const std::lock_guard guard(shares_lock_);
  const bool shares = std::any_of(shares_.begin(), shares_.end(),
                                  [id](const Share& share) { return share.id == id && share.thread == this_thread(); });
  if (!shares) return {};
  return Status::error(
      "%s(%d) by a thread that shares lock %d already; locks are not recursive, and a shared "
      "one must be given back before it is taken alone",
      call, id, id);
}

Status Locks::none_held(const char* call) const {
  std::vector<int> held;
  for (size_t index = 0; index < holds_.size(); ++index)
    if (holds_[index].thread.load(std::memory_order_relaxed) != 0) held.push_back(static_cast<int>(index));
  const std::lock_guard guard(shares_lock_);
  for (const Share& share : shares_) held.push_back(share.id);
  if (held.empty()) return {};
  constexpr int locks = static_cast<int>(Layout::locks);
  if (held[0] >= locks) return Status::error("%s in what is called once (number %d)", call, held[0] - locks);
  std::string text;
  constexpr size_t most = 4;
  for (size_t i = 0; i < std::min(held.size(), most); ++i) text += format("%s%d", i == 0 ? "" : ", ", held[i]);
  if (held.size() > most) text += format(" and %zu more", held.size() - most);
  return Status::error("%s while this rank still holds lock%s %s; give %s back before", call,
                       held.size() == 1 ? "" : "s", text.c_str(), held.size() == 1 ? "it" : "them");
}

std::string Locks::who_holds(int index, int id, const char* call) const {
  const uint64_t at = parts_.layout.lock(index) + Layout::lock_holder;
  const uint64_t word = parts_.transport->words().fetch_add64(parts_.layout.lock_rank(index), at, 0);
  const auto holder = static_cast<uint32_t>(word), sharers = static_cast<uint32_t>(word >> 32);
  if (sharers != 0) return format("%s(%d), which %u threads share", call, id, sharers);
  if (holder == 0 || holder == several) return format("%s(%d), which another rank is about to take", call, id);
  return format("%s(%d), which rank %u holds", call, id, holder - 1);
}

// ---- held alone ----------------------------------------------------------------------------------------------------

Status Locks::lock(int id, const char* call) {
  HIROBA_TRY(check(id, false, call));
  Beside beside(parts_);
  return take(id, id, call, beside);
}

// A thread that shares a lock has counted itself before it passes the ticket on.
Status Locks::take(int index, int id, const char* call, Beside& beside) {
  const double start = parts_.times.now();
  const auto text = [&] { return format("%s(%d)", call, id); };
  const auto what = [&] { return who_holds(index, id, call); };
  uint32_t ticket;
  HIROBA_TRY(ticket_lock(index).acquire(text, what, ticket));
  beside.read(parts_, index);
  if (beside.sharers() != 0) {
    const auto none = [](uint32_t sharers) { return sharers == 0; };
    HIROBA_TRY(parts_.collective.world().await_word(parts_.layout.lock_rank(index),
                                                    parts_.layout.lock(index) + Layout::lock_sharers, none, text,
                                                    what));
    beside.read(parts_, index);
  }
  took(index, ticket, beside, waited(index == id ? id : -1, start, call));
  return {};
}

Locks::Taken Locks::waited(int id, double start, const char* call) {
  if (!recording()) return {};
  const double end = seconds_now();
  return {note_lock(id, call, start, end), end};
}

void Locks::held(Taken taken) {
  if (taken.site != nullptr) note_held(taken.site, seconds_now() - taken.at);
}

Status Locks::try_lock(int id, bool& taken, const char* call) {
  HIROBA_TRY(check(id, false, call));
  const double start = parts_.times.now();
  uint32_t ticket;
  taken = ticket_lock(id).try_acquire(ticket);
  if (!taken) return {};
  Beside beside(parts_);
  beside.read(parts_, id);
  taken = beside.sharers() == 0;
  if (taken) took(id, ticket, beside, waited(id, start, call));
  else ticket_lock(id).release();
  return {};
}

// If this rank has changed the vector last, there is nothing to acquire.
void Locks::took(int index, uint32_t ticket, const Beside& beside, Taken taken) {
  const RaceChecker::Segment segment(parts_.races, SyncEvent::acquire, index, ticket);
  Hold& hold = holds_[static_cast<size_t>(index)];
  hold.ticket = ticket, hold.taken = taken;
  hold.thread.store(this_thread(), std::memory_order_relaxed);
  count_step();
  show_held(index, true);
  const uint32_t self = static_cast<uint32_t>(parts_.job.rank) + 1;
  if (beside.holder() == self) return;
  // The fence of the release completes it.
  parts_.transport->put(parts_.layout.lock_rank(index), parts_.layout.lock(index) + Layout::lock_holder, &self,
                        sizeof self);
  if (parts_.cache == nullptr || beside.holder() == 0) return;
  const CoherenceTime time(parts_, CoherenceTime::of_lock);
  parts_.intervals.acquire(beside.vector());
}

Status Locks::unlock(int id, const char* call) {
  HIROBA_TRY(check(id, true, call));
  give(id);
  return {};
}

// Writes the vector that the next holder must acquire beside the lock, unless it is there. A vector beside a lock never
// decreases: its writer has acquired the old one.
void Locks::give(int index) {
  Hold& hold = holds_[static_cast<size_t>(index)];
  const RaceChecker::Segment segment(parts_.races, SyncEvent::release, index, hold.ticket);
  if (parts_.cache != nullptr) {
    const CoherenceTime time(parts_, CoherenceTime::of_lock);
    const Beside beside(parts_);
    const uint64_t version = parts_.intervals.release(beside.vector());
    if (version != hold.version.load(std::memory_order_relaxed)) {
      hold.version.store(version, std::memory_order_relaxed);
      parts_.transport->put(parts_.layout.lock_rank(index), parts_.layout.lock(index) + Layout::lock_vector,
                            beside.vector().data(), beside.vector().size_bytes());
    }
  }
  parts_.transport->fence();
  held(hold.taken);
  show_held(index, false);
  hold.thread.store(0, std::memory_order_relaxed);
  ticket_lock(index).release();
}

// A rank that takes locks advances, though it comes to no collective call, nor waits.
void Locks::count_step() const {
  std::atomic<uint64_t>& ended = parts_.board->rank(parts_.job.rank).ended;
  ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // only a change counts
}

// Shows held locks for the message about a rank that is killed. Locks beyond the room on the board are left out.
void Locks::show_held(int index, bool held) const {
  if (index >= static_cast<int>(Layout::locks)) return;
  const int32_t shown = index + 1;
  for (std::atomic<int32_t>& lock : parts_.board->rank(parts_.job.rank).locks) {
    int32_t before = held ? 0 : shown;
    if (lock.load(std::memory_order_relaxed) == before &&
        lock.compare_exchange_strong(before, held ? shown : 0, std::memory_order_relaxed))
      return;
  }
}

// ---- shared --------------------------------------------------------------------------------------------------------

Status Locks::lock_shared(int id, const char* call) {
  HIROBA_TRY(check(id, false, call));
  const double start = parts_.times.now();
  uint32_t ticket;
  HIROBA_TRY(ticket_lock(id).acquire([&] { return format("%s(%d)", call, id); },
                                     [&] { return who_holds(id, id, call); }, ticket));
  took_shared(id, ticket, waited(id, start, call));
  return {};
}

Status Locks::try_lock_shared(int id, bool& taken, const char* call) {
  HIROBA_TRY(check(id, false, call));
  const double start = parts_.times.now();
  uint32_t ticket;
  taken = ticket_lock(id).try_acquire(ticket);
  if (taken) took_shared(id, ticket, waited(id, start, call));
  return {};
}

// Passes the ticket on at once, so that other sharers get it, too.
void Locks::took_shared(int id, uint32_t ticket, Taken taken) {
  parts_.transport->words().fetch_add32(parts_.layout.lock_rank(id), parts_.layout.lock(id) + Layout::lock_sharers, 1);
  ticket_lock(id).release();
  count_step();
  const RaceChecker::Segment segment(parts_.races, SyncEvent::acquire, id, ticket);
  {
    const std::lock_guard guard(shares_lock_);
    shares_.push_back({id, this_thread(), ticket, taken});
  }
  if (parts_.cache == nullptr) return;
  Beside beside(parts_);
  beside.read(parts_, id);
  if (beside.holder() == 0 || beside.holder() == static_cast<uint32_t>(parts_.job.rank) + 1) return;
  const CoherenceTime time(parts_, CoherenceTime::of_lock);
  parts_.intervals.acquire(beside.vector());
}

Status Locks::unlock_shared(int id, const char* call) {
  HIROBA_TRY(check_id(id, call));
  Share share = {id, this_thread(), 0, {}};
  {
    const std::lock_guard guard(shares_lock_);
    const auto found = std::find_if(shares_.begin(), shares_.end(), [&share](const Share& other) {
      return other.id == share.id && other.thread == share.thread;
    });
    if (found == shares_.end()) return Status::error("%s(%d) by a thread that does not share lock %d", call, id, id);
    share = *found;
    *found = shares_.back();
    shares_.pop_back();
  }
  const RaceChecker::Segment segment(parts_.races, SyncEvent::release, id, share.ticket);
  if (parts_.cache != nullptr) publish_shared(id);
  parts_.transport->fence();
  held(share.taken);
  const int rank = parts_.layout.lock_rank(id);
  const uint64_t at = parts_.layout.lock(id) + Layout::lock_sharers;
  if (parts_.transport->words().fetch_add32(rank, at, UINT32_MAX) == 1) parts_.transport->words().wake(rank, at);
  return {};
}

// Other sharers may do the same concurrently.
void Locks::publish_shared(int id) {
  const CoherenceTime time(parts_, CoherenceTime::of_lock);
  Hold& hold = holds_[static_cast<size_t>(id)];
  const Beside beside(parts_);
  const uint64_t version = parts_.intervals.release(beside.vector());
  if (version == hold.version.load(std::memory_order_relaxed)) return;
  const int rank = parts_.layout.lock_rank(id);
  const uint64_t at = parts_.layout.lock(id);
  if (parts_.intervals.hand_over(beside.vector(), rank, at + Layout::lock_vector))
    parts_.transport->put(rank, at + Layout::lock_holder, &several, sizeof several);
  hold.version.store(version, std::memory_order_relaxed);
}

// ---- once -----------------------------------------------------------------------------------------------------------

// The number is new if no rank has held its lock yet.
Status Locks::begin_once(int id, bool& first, const char* call) {
  first = false;
  if (id < 0 || id >= static_cast<int>(Layout::onces))
    return Status::error("%s: number %d does not exist; numbers are 0..%d", call, id,
                         static_cast<int>(Layout::onces) - 1);
  if (done_[static_cast<size_t>(id)].load(std::memory_order_acquire)) return {};
  const int index = static_cast<int>(Layout::locks) + id;
  if (holds(index)) return Status::error("%s(%d) in what it calls itself", call, id);
  Beside beside(parts_);
  HIROBA_TRY(take(index, id, call, beside));
  first = beside.holder() == 0;
  return first ? Status() : end_once(id);
}

Status Locks::end_once(int id) {
  done_[static_cast<size_t>(id)].store(true, std::memory_order_release);
  give(static_cast<int>(Layout::locks) + id);
  return {};
}

}  // namespace hiroba
