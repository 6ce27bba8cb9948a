// Release and acquire: barrier, sync_drop, sync and locks. docs/memory-model.md says what they promise; README.md
// beside this file how.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "memory/parts.hpp"

namespace hiroba {

namespace {

// In a rank's word of a barrier: the number of its notices, and whether it may have written home pages that it cannot
// name.
constexpr uint64_t unknown_writes = uint64_t{1} << 63;

}  // namespace

Status Memory::barrier(const char* call) {
  HIROBA_TRY(find_races(call));
  uint64_t notices = 0;
  if (parts_->cache != nullptr) {
    parts_->cache->flush(true);
    parts_->home_writes.collect(parts_->notices);
    notices = parts_->notices.count() | (parts_->home_writes.exact() ? 0 : unknown_writes);
  }
  HIROBA_TRY(collective_.exchange(call, at_barrier, notices, words_));
  if (parts_->cache != nullptr) read_notices(words_);
  use_huge_pages();
  if (parts_->races.on()) parts_->races.begin_epoch();
  return {};
}

std::vector<PageRun> Memory::written_pages() {
  std::vector<PageRun> out;
  if (parts_->cache == nullptr) return out;
  parts_->cache->flush(true);
  parts_->home_writes.collect(parts_->notices);
  for (uint64_t i = 0; i < parts_->notices.count(); ++i)
    out.push_back({parts_->notices[i].page(), parts_->notices[i].pages()});
  return out;
}

void Memory::read_notices(std::span<const uint64_t> words) {
  const uint64_t parity = parts_->notices.parity();
  parts_->notices.turn();
  if (std::any_of(words.begin(), words.end(), [](uint64_t word) { return (word & unknown_writes) != 0; })) {
    parts_->cache->flush_and_drop(true);
    return;
  }
  if (parts_->cache->resident() == 0) return;
  Notice buffer[512];
  for (int r = 0; r < job_.nranks; ++r) {
    if (r == job_.rank) continue;
    const uint64_t total = words[static_cast<size_t>(r)];
    for (uint64_t done = 0; done < total; done += std::size(buffer)) {
      const uint64_t n = std::min<uint64_t>(std::size(buffer), total - done);
      transport_->get(buffer, r, layout_.outbox(r, parity) + done * sizeof(Notice), n * sizeof(Notice));
      for (uint64_t i = 0; i < n; ++i) parts_->cache->invalidate(buffer[i].page(), buffer[i].pages());
    }
  }
}

void Memory::drop() {
  if (parts_->cache == nullptr) return;
  parts_->cache->flush_and_drop(true);
  parts_->notices.clear();  // nobody keeps a copy that they could be about
}

Status Memory::sync_drop(const char* call) {
  HIROBA_TRY(start_sync_drop(call, false));
  return end_sync_drop();
}

Status Memory::start_sync_drop(const char* call, bool halves) {
  HIROBA_TRY(find_races(call));
  drop();
  if (parts_->cache != nullptr) parts_->cache->preload_ahead(halves), parts_->cache->enter_between();
  HIROBA_TRY(collective_.start_barrier(call, at_sync_drop));
  if (parts_->races.on()) parts_->races.begin_epoch();
  return {};
}

// What has been fetched since the start may be older than what others wrote before theirs.
Status Memory::end_sync_drop() {
  HIROBA_TRY(collective_.end_barrier());
  if (parts_->cache != nullptr && parts_->cache->leave_between()) parts_->cache->flush_and_drop(false);
  use_huge_pages();
  return {};
}

// Acquire of a program that preloads all that it reads of other nodes, so that its copies may stay in the view.
void Memory::outdate(bool home_writes) {
  if (!home_writes) return drop();
  if (parts_->cache != nullptr) parts_->cache->outdate();
}

// Nothing is asked for ahead of a meeting: a home may be through with its own before others have put to it.
Status Memory::sync_drop(const char* call, std::span<const int> others, bool home_writes) {
  const RaceChecker::Segment segment(parts_->races, SyncEvent::any);
  outdate(home_writes);
  return collective_.group_barrier(call, others);
}

void Memory::arrive(const char* call, bool home_writes, Work done) {
  const RaceChecker::Segment segment(parts_->races, SyncEvent::any);
  if (!collective_.arrived_with_part()) outdate(home_writes);
  collective_.arrive(call, done);
}

Status Memory::await(const char* call, std::span<const int> others, Work needed) {
  const RaceChecker::Segment segment(parts_->races, SyncEvent::any);
  return collective_.await(call, others, needed);
}

void Memory::sync() {
  const RaceChecker::Segment segment(parts_->races, SyncEvent::any);
  if (parts_->cache == nullptr) std::atomic_thread_fence(std::memory_order_seq_cst);
  else parts_->cache->flush_and_drop(false);
}

// ---- locks ---------------------------------------------------------------------------------------------------------
// A ticket lock in the zone of rank id % nranks, and who took it last.

namespace {
constexpr uint64_t at_holder = 8;
}

TicketLock Memory::ticket_lock(int id) const { return {collective_.world(), layout_.lock_rank(id), layout_.lock(id)}; }

Status Memory::check_lock(int id, bool held) const {
  if (id < 0 || id >= static_cast<int>(Layout::locks))
    return Status::error(format("lock %d does not exist; locks are 0..%d", id, static_cast<int>(Layout::locks) - 1));
  const int holder = held_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  if (held && holder != gettid())
    return Status::error(
        format("sms_unlock(%d) by a thread that does not hold lock %d; unlock in the thread that locked", id, id));
  if (!held && holder == gettid())
    return Status::error(
        format("sms_lock(%d) by the thread that holds lock %d already; locks are not recursive", id, id));
  return {};
}

Status Memory::lock(int id) {
  HIROBA_TRY(check_lock(id, false));
  const double start = times_.on ? seconds_now() : 0;
  const auto who_holds = [&] {
    const uint32_t holder = transport_->fetch_add32(layout_.lock_rank(id), layout_.lock(id) + at_holder, 0);
    return format("sms_lock(%d), which rank %u holds", id, holder - 1);
  };
  uint32_t ticket;
  HIROBA_TRY(ticket_lock(id).acquire([id] { return format("sms_lock(%d)", id); }, who_holds, ticket));
  if (times_.on) times_.locks.fetch_add(seconds_now() - start, std::memory_order_relaxed);
  took_lock(id, ticket);
  return {};
}

Status Memory::try_lock(int id, bool& taken) {
  HIROBA_TRY(check_lock(id, false));
  uint32_t ticket;
  taken = ticket_lock(id).try_acquire(ticket);
  if (taken) took_lock(id, ticket);
  return {};
}

void Memory::took_lock(int id, uint32_t ticket) {
  const RaceChecker::Segment segment(parts_->races, SyncEvent::acquire, id, ticket);
  tickets_[static_cast<size_t>(id)] = ticket;
  held_[static_cast<size_t>(id)].store(gettid(), std::memory_order_relaxed);
  const int rank = layout_.lock_rank(id);
  const uint64_t at = layout_.lock(id) + at_holder;
  const uint32_t last = transport_->fetch_add32(rank, at, 0), self = static_cast<uint32_t>(job_.rank) + 1;
  if (last == self) return;  // nobody else has released it since this rank did, so there is nothing new to see
  transport_->compare_swap32(rank, at, last, self);
  if (parts_->cache != nullptr && last != 0) parts_->cache->flush_and_drop(false);
}

Status Memory::unlock(int id) {
  HIROBA_TRY(check_lock(id, true));
  const RaceChecker::Segment segment(parts_->races, SyncEvent::release, id, tickets_[static_cast<size_t>(id)]);
  if (parts_->cache != nullptr) parts_->cache->flush(false);
  transport_->fence();
  held_[static_cast<size_t>(id)].store(0, std::memory_order_relaxed);
  ticket_lock(id).release();
  return {};
}

}  // namespace hiroba
