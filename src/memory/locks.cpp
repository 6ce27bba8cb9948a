#include "memory/locks.hpp"

#include "base/text.hpp"
#include "base/thread.hpp"
#include "memory/parts.hpp"

namespace hiroba {

Locks::Locks(MemoryParts& parts) : parts_(parts), holds_(Layout::locks) {}

TicketLock Locks::ticket_lock(int id) const {
  return {parts_.collective.world(), parts_.layout.lock_rank(id), parts_.layout.lock(id)};
}

Status Locks::check(int id, bool held, const char* call) const {
  if (id < 0 || id >= static_cast<int>(Layout::locks))
    return Status::error(
        format("%s: lock %d does not exist; locks are 0..%d", call, id, static_cast<int>(Layout::locks) - 1));
  const int holder = holds_[static_cast<size_t>(id)].thread.load(std::memory_order_relaxed);
  if (held && holder != this_thread())
    return Status::error(
        format("%s(%d) by a thread that does not hold lock %d; unlock in the thread that locked", call, id, id));
  if (!held && holder == this_thread())
    return Status::error(
        format("%s(%d) by the thread that holds lock %d already; locks are not recursive", call, id, id));
  return {};
}

Status Locks::lock(int id, const char* call) {
  HIROBA_TRY(check(id, false, call));
  const double start = parts_.times.on ? seconds_now() : 0;
  const auto who_holds = [&] {
    const uint64_t at = parts_.layout.lock(id) + Layout::lock_holder;
    const uint32_t holder = parts_.transport->fetch_add32(parts_.layout.lock_rank(id), at, 0);
    return format("%s(%d), which rank %u holds", call, id, holder - 1);
  };
  uint32_t ticket;
  HIROBA_TRY(ticket_lock(id).acquire([&] { return format("%s(%d)", call, id); }, who_holds, ticket));
  if (parts_.times.on) parts_.times.locks.fetch_add(seconds_now() - start, std::memory_order_relaxed);
  took(id, ticket);
  return {};
}

Status Locks::try_lock(int id, bool& taken, const char* call) {
  HIROBA_TRY(check(id, false, call));
  uint32_t ticket;
  taken = ticket_lock(id).try_acquire(ticket);
  if (taken) took(id, ticket);
  return {};
}

// The holder and the vector lie side by side, so one message brings both. If this rank released the lock last, no other
// release lies between, and there is nothing to see.
void Locks::took(int id, uint32_t ticket) {
  const RaceChecker::Segment segment(parts_.races, SyncEvent::acquire, id, ticket);
  Hold& hold = holds_[static_cast<size_t>(id)];
  hold.ticket = ticket;
  hold.thread.store(this_thread(), std::memory_order_relaxed);
  const int rank = parts_.layout.lock_rank(id);
  const uint64_t at = parts_.layout.lock(id);
  const uint32_t self = static_cast<uint32_t>(parts_.job.rank) + 1;
  std::array<uint64_t, few_nodes> room;
  std::vector<uint64_t> more;
  const std::span<uint64_t> words = words_for(room, more);
  parts_.transport->get(words.data(), rank, at + Layout::lock_holder, words.size_bytes());
  const auto last = static_cast<uint32_t>(words[0]);
  if (last == self) return;
  hold.version = 0;
  // Complete at the fence of the release.
  parts_.transport->put(rank, at + Layout::lock_holder, &self, sizeof self);
  if (parts_.cache != nullptr && last != 0) parts_.intervals.acquire(words.subspan(1));
}

Status Locks::unlock(int id, const char* call) {
  HIROBA_TRY(check(id, true, call));
  Hold& hold = holds_[static_cast<size_t>(id)];
  const RaceChecker::Segment segment(parts_.races, SyncEvent::release, id, hold.ticket);
  if (parts_.cache != nullptr) publish(id, hold);
  parts_.transport->fence();
  hold.thread.store(0, std::memory_order_relaxed);
  ticket_lock(id).release();
  return {};
}

// Writes what a rank that takes the lock must have seen beside the lock, unless it is there.
void Locks::publish(int id, Hold& hold) {
  std::array<uint64_t, few_nodes> room;
  std::vector<uint64_t> more;
  const std::span<uint64_t> vector = words_for(room, more).subspan(1);
  const uint64_t version = parts_.intervals.release(vector);
  if (version == hold.version) return;
  hold.version = version;
  parts_.transport->put(parts_.layout.lock_rank(id), parts_.layout.lock(id) + Layout::lock_vector, vector.data(),
                        vector.size_bytes());
}

// For a holder and its vector, in `room` if there are few nodes.
std::span<uint64_t> Locks::words_for(std::array<uint64_t, few_nodes>& room, std::vector<uint64_t>& more) const {
  const size_t words = parts_.cache == nullptr ? 1 : 1 + static_cast<size_t>(parts_.job.nnodes);
  if (words <= room.size()) return std::span(room).first(words);
  more.resize(words);
  return more;
}

}  // namespace hiroba
