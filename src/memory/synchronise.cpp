// Release and acquire: barrier, sync_drop, sync and locks. docs/memory-model.md says what they promise; README.md
// beside this file how.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "memory/memory.hpp"

namespace hiroba {

namespace {

// In a rank's word of a barrier: the number of its notices, and whether it may have written home pages that it cannot
// name.
constexpr uint64_t unknown_writes = uint64_t{1} << 63;

}  // namespace

Status Memory::barrier(const char* call) {
  HIROBA_TRY(find_races(call));
  uint64_t notices = 0;
  if (cache_ != nullptr) {
    cache_->flush(true);
    home_writes_.collect(notices_);
    notices = notices_.count() | (home_writes_.exact() ? 0 : unknown_writes);
  }
  HIROBA_TRY(enter(call, 3, notices, words_));
  if (cache_ != nullptr) read_notices(words_);
  use_huge_pages();
  if (races_.on()) races_.begin_epoch();
  return {};
}

std::vector<PageRun> Memory::written_pages() {
  std::vector<PageRun> out;
  if (cache_ == nullptr) return out;
  cache_->flush(true);
  home_writes_.collect(notices_);
  for (uint64_t i = 0; i < notices_.count(); ++i) out.push_back({notices_[i].page(), notices_[i].pages()});
  return out;
}

void Memory::read_notices(std::span<const uint64_t> words) {
  const uint64_t parity = notices_.parity();
  notices_.turn();
  if (std::any_of(words.begin(), words.end(), [](uint64_t word) { return (word & unknown_writes) != 0; })) {
    cache_->flush_and_drop(true);
    return;
  }
  if (cache_->resident() == 0) return;
  Notice buffer[512];
  for (int r = 0; r < job_.nranks; ++r) {
    if (r == job_.rank) continue;
    const uint64_t total = words[static_cast<size_t>(r)];
    for (uint64_t done = 0; done < total; done += std::size(buffer)) {
      const uint64_t n = std::min<uint64_t>(std::size(buffer), total - done);
      transport_->get(buffer, r, layout_.outbox(r, parity) + done * sizeof(Notice), n * sizeof(Notice));
      for (uint64_t i = 0; i < n; ++i) cache_->invalidate(buffer[i].page(), buffer[i].pages());
    }
  }
}

void Memory::drop() {
  if (cache_ == nullptr) return;
  cache_->flush_and_drop(true);
  notices_.clear();  // nobody keeps a copy that they could be about
}

Status Memory::sync_drop(const char* call) {
  HIROBA_TRY(start_sync_drop(call, false));
  return end_sync_drop(call);
}

Status Memory::start_sync_drop(const char* call, bool halves) {
  HIROBA_TRY(find_races(call));
  HIROBA_TRY(come(call));
  drop();
  if (cache_ != nullptr) cache_->preload_ahead(halves), cache_->enter_between();
  transport_->start_exchange(4, 0);
  between_ = true;
  if (races_.on()) races_.begin_epoch();
  return {};
}

// What has been fetched since the start may be older than what others wrote before theirs.
Status Memory::end_sync_drop(const char* call) {
  if (!between_) return Status::error(format("%s without a start; call sms_sync_drop_start before", call));
  between_ = false;
  HIROBA_TRY(wait_for_others([&] { return transport_->end_exchange(words_); }));
  if (cache_ != nullptr && cache_->leave_between()) cache_->flush_and_drop(false);
  use_huge_pages();
  return {};
}

// At a rank's arrivals: their number, and how many ranks may be asleep over it.
std::atomic<uint32_t>& Memory::arrivals(int rank, int word) const {
  return reinterpret_cast<std::atomic<uint32_t>*>(transport_->reach(rank, layout_.arrivals(rank)))[word];
}

bool Memory::reaches_all() const {
  for (int r = 0; r < job_.nranks; r = job_.first_rank_of(job_.node_of(r) + 1))
    if (transport_->reach(r, layout_.arrivals(r)) == nullptr) return false;
  return true;
}

// Acquire of a program that preloads all that it reads of other nodes, so that its copies may stay in the view.
void Memory::outdate(bool home_writes) {
  if (!home_writes) return drop();
  if (cache_ != nullptr) cache_->outdate();
}

void Memory::arrive(const char* call, bool home_writes, Work done) {
  const RaceChecker::Segment segment(races_, SyncEvent::any);
  std::atomic<uint32_t>& count = arrivals(job_.rank, 0);
  const uint32_t before = count.load(std::memory_order_relaxed);
  const bool with_part = before % 2 != 0;
  if (!with_part) outdate(home_writes);
  transport_->fence();
  if (done == Work::all) {
    RankBoard& self = board_->rank(job_.rank);
    std::strncpy(self.where, call, sizeof self.where - 1);
    self.calls.fetch_add(1, std::memory_order_relaxed);
  }
  count.store(before + (with_part || done == Work::part ? 1 : 2));
  if (arrivals(job_.rank, 1).load() != 0) transport_->wake(job_.rank, layout_.arrivals(job_.rank));
}

bool Memory::has_arrived(int rank, Work needed) const {
  const uint32_t own = arrivals(job_.rank, 0).load(std::memory_order_relaxed);
  return static_cast<int32_t>(arrivals(rank, 0).load() - own) >= (needed == Work::part ? -1 : 0);
}

bool Memory::arrived(std::span<const int> others, Work needed) const {
  return std::all_of(others.begin(), others.end(), [&](int rank) { return has_arrived(rank, needed); });
}

Status Memory::await(const char* call, std::span<const int> others, Work needed) {
  const RaceChecker::Segment segment(races_, SyncEvent::any);
  RankBoard& self = board_->rank(job_.rank);
  self.waiting.store(1, std::memory_order_relaxed);
  const double start = seconds_now();
  for (const int rank : others) {
    arrivals(rank, 1).fetch_add(1);
    for (;;) {
      const uint32_t seen = arrivals(rank, 0).load();
      if (has_arrived(rank, needed)) break;
      transport_->await_change(rank, layout_.arrivals(rank), seen, 0.1);
      const double waited = seconds_now() - start;
      if (timeout_ <= 0 || waited <= timeout_ || has_arrived(rank, needed)) continue;
      return Status::error(format("waited %.3g s (option timeout) in %s; %s", waited, call, absent(rank).c_str()));
    }
    arrivals(rank, 1).fetch_sub(1);
  }
  self.waiting.store(0, std::memory_order_relaxed);
  return {};
}

std::string Memory::absent(int rank) const {
  const RankBoard& other = board_->rank(rank);
  const std::string_view where = std::string_view(other.where).substr(0, std::string_view(other.where).find(": "));
  if (where.empty()) return format("rank %d has not come", rank);
  return format("rank %d has not come; it %s %.*s", rank, other.waiting.load() != 0 ? "waits in" : "computes after",
                static_cast<int>(where.size()), where.data());
}

void Memory::sync() {
  const RaceChecker::Segment segment(races_, SyncEvent::any);
  if (cache_ == nullptr) std::atomic_thread_fence(std::memory_order_seq_cst);
  else cache_->flush_and_drop(false);
}

// ---- locks
// ----------------------------------------------------------------------------------------------------------- A ticket
// lock in the zone of rank id % nranks: next ticket, ticket being served, who took it last.

namespace {
constexpr uint64_t at_next = 0, at_serving = 4, at_holder = 8;
}

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
  const int rank = layout_.lock_rank(id);
  const uint64_t at = layout_.lock(id);
  const uint32_t ticket = transport_->fetch_add32(rank, at + at_next, 1);
  HIROBA_TRY(await_turn(id, ticket));
  took_lock(id, ticket);
  return {};
}

Status Memory::await_turn(int id, uint32_t ticket) {
  const int rank = layout_.lock_rank(id);
  const uint64_t at = layout_.lock(id) + at_serving;
  uint32_t serving = transport_->fetch_add32(rank, at, 0);
  if (serving == ticket) return {};
  RankBoard& self = board_->rank(job_.rank);
  std::strncpy(self.where, format("sms_lock(%d)", id).c_str(), sizeof self.where - 1);
  self.waiting.store(1, std::memory_order_relaxed);
  const double start = seconds_now();
  constexpr double long_wait = 1;  // then it is worth a message who holds the lock, for those who look at the board
  bool looked = false;
  while (serving != ticket) {
    serving = transport_->await_change(rank, at, serving, 0.1);
    if (!looked && serving != ticket && seconds_now() - start > long_wait) looked = true, note_holder(id);
    if (timeout_ <= 0 || serving == ticket || seconds_now() - start <= timeout_) continue;
    note_holder(id);
    return Status::error(format("waited %.3g s (option timeout) in %s", timeout_, self.where));
  }
  if (looked) std::strncpy(self.where, format("sms_lock(%d)", id).c_str(), sizeof self.where - 1);
  self.waiting.store(0, std::memory_order_relaxed);
  if (times_.on) times_.locks.fetch_add(seconds_now() - start, std::memory_order_relaxed);
  return {};
}

void Memory::note_holder(int id) {
  const uint32_t holder = transport_->fetch_add32(layout_.lock_rank(id), layout_.lock(id) + at_holder, 0);
  RankBoard& self = board_->rank(job_.rank);
  std::strncpy(self.where, format("sms_lock(%d), which rank %u holds", id, holder - 1).c_str(), sizeof self.where - 1);
}

Status Memory::try_lock(int id, bool& taken) {
  HIROBA_TRY(check_lock(id, false));
  const int rank = layout_.lock_rank(id);
  const uint64_t at = layout_.lock(id);
  const uint32_t serving = transport_->fetch_add32(rank, at + at_serving, 0);
  taken = transport_->compare_swap32(rank, at + at_next, serving, serving + 1) == serving;
  if (taken) took_lock(id, serving);
  return {};
}

void Memory::took_lock(int id, uint32_t ticket) {
  const RaceChecker::Segment segment(races_, SyncEvent::acquire, id, ticket);
  tickets_[static_cast<size_t>(id)] = ticket;
  held_[static_cast<size_t>(id)].store(gettid(), std::memory_order_relaxed);
  const int rank = layout_.lock_rank(id);
  const uint64_t at = layout_.lock(id) + at_holder;
  const uint32_t last = transport_->fetch_add32(rank, at, 0), self = static_cast<uint32_t>(job_.rank) + 1;
  if (last == self) return;  // nobody else has released it since this rank did, so there is nothing new to see
  transport_->compare_swap32(rank, at, last, self);
  if (cache_ != nullptr && last != 0) cache_->flush_and_drop(false);
}

Status Memory::unlock(int id) {
  HIROBA_TRY(check_lock(id, true));
  const RaceChecker::Segment segment(races_, SyncEvent::release, id, tickets_[static_cast<size_t>(id)]);
  if (cache_ != nullptr) cache_->flush(false);
  transport_->fence();
  held_[static_cast<size_t>(id)].store(0, std::memory_order_relaxed);
  const int rank = layout_.lock_rank(id);
  const uint64_t at = layout_.lock(id) + at_serving;
  transport_->fetch_add32(rank, at, 1);
  transport_->wake(rank, at);
  return {};
}

}  // namespace hiroba
