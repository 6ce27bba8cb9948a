#include "memory/locks.hpp"

#include <unistd.h>

#include "base/text.hpp"
#include "memory/parts.hpp"

namespace hiroba {

Locks::Locks(MemoryParts& parts) : parts_(parts), held_(Layout::locks), tickets_(Layout::locks) {}

TicketLock Locks::ticket_lock(int id) const {
  return {parts_.collective.world(), parts_.layout.lock_rank(id), parts_.layout.lock(id)};
}

// The rank that took it last, + 1.
uint64_t Locks::at_holder(int id) const { return parts_.layout.lock(id) + 8; }

Status Locks::check(int id, bool held, const char* call) const {
  if (id < 0 || id >= static_cast<int>(Layout::locks))
    return Status::error(
        format("%s: lock %d does not exist; locks are 0..%d", call, id, static_cast<int>(Layout::locks) - 1));
  const int holder = held_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  if (held && holder != gettid())
    return Status::error(
        format("%s(%d) by a thread that does not hold lock %d; unlock in the thread that locked", call, id, id));
  if (!held && holder == gettid())
    return Status::error(
        format("%s(%d) by the thread that holds lock %d already; locks are not recursive", call, id, id));
  return {};
}

Status Locks::lock(int id, const char* call) {
  HIROBA_TRY(check(id, false, call));
  const double start = parts_.times.on ? seconds_now() : 0;
  const auto who_holds = [&] {
    const uint32_t holder = parts_.transport->fetch_add32(parts_.layout.lock_rank(id), at_holder(id), 0);
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

void Locks::took(int id, uint32_t ticket) {
  const RaceChecker::Segment segment(parts_.races, SyncEvent::acquire, id, ticket);
  tickets_[static_cast<size_t>(id)] = ticket;
  held_[static_cast<size_t>(id)].store(gettid(), std::memory_order_relaxed);
  const int rank = parts_.layout.lock_rank(id);
  const uint64_t at = at_holder(id);
  const uint32_t last = parts_.transport->fetch_add32(rank, at, 0), self = static_cast<uint32_t>(parts_.job.rank) + 1;
  if (last == self) return;  // nobody else has released it since this rank did, so there is nothing new to see
  parts_.transport->compare_swap32(rank, at, last, self);
  if (parts_.cache != nullptr && last != 0) parts_.cache->writeback.flush_and_drop(false);
}

Status Locks::unlock(int id, const char* call) {
  HIROBA_TRY(check(id, true, call));
  const RaceChecker::Segment segment(parts_.races, SyncEvent::release, id, tickets_[static_cast<size_t>(id)]);
  if (parts_.cache != nullptr) parts_.cache->writeback.flush(false);
  parts_.transport->fence();
  held_[static_cast<size_t>(id)].store(0, std::memory_order_relaxed);
  ticket_lock(id).release();
  return {};
}

}  // namespace hiroba
