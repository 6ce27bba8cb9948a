#include "memory/sync/consistency.hpp"

#include <algorithm>
#include <iterator>

#include "memory/parts.hpp"

namespace hiroba {

namespace {

// A rank's word of a barrier contains the number of its notices, the part of its node's log of intervals that they
// cover, and two flags: it may have written home pages that it cannot name, and it has proposals of homes.
constexpr int notice_bits = 26;
constexpr uint64_t unknown_writes = uint64_t{1} << 63, says_homes = uint64_t{1} << 62;
constexpr uint64_t most_notices = (uint64_t{1} << notice_bits) - 1;
static_assert(notice_bits + Intervals::barrier_bits == 62);
static_assert(Layout::notice_log_bytes / sizeof(Notice) <= most_notices);

uint64_t notices_of(uint64_t word) { return word & most_notices; }
uint64_t covered_by(uint64_t word) { return (word & ~(unknown_writes | says_homes)) >> notice_bits; }
bool is_unknown(uint64_t word) { return (word & unknown_writes) != 0; }

}  // namespace

Status Consistency::barrier(const char* call) {
  HIROBA_TRY(parts_.races.find(call));
  HIROBA_TRY(parts_.heap.at_barrier());
  uint64_t notices = 0;
  if (parts_.cache != nullptr) {
    parts_.cache->writeback.flush(true);
    const bool exact = parts_.home_writes.collect(parts_.notices);
    notices = parts_.notices.count() | parts_.intervals.at_barrier() << notice_bits | (exact ? 0 : unknown_writes) |
              (parts_.home_policies.before_barrier() ? says_homes : 0);
  }
  words_.resize(static_cast<size_t>(parts_.job.nranks));
  HIROBA_TRY(parts_.collective.barriers().with_words(call, at_barrier, notices, words_));
  if (parts_.cache != nullptr) {
    read_notices();
    covered_.clear();
    std::transform(words_.begin(), words_.end(), std::back_inserter(covered_), covered_by);
    parts_.intervals.after_barrier(covered_);
    HIROBA_TRY(move_homes(call));
  }
  parts_.huge_pages.at_barrier();
  parts_.touches.at_barrier();
  if (parts_.races.on()) parts_.races.begin_epoch();
  return {};
}

PageSet Consistency::written() {
  std::vector<PageRun> out;
  if (parts_.cache == nullptr) return {};
  parts_.cache->writeback.flush(true);
  parts_.home_writes.collect(parts_.notices);
  for (uint64_t i = 0; i < parts_.notices.count(); ++i)
    out.push_back({parts_.notices[i].page(), parts_.notices[i].pages()});
  return PageSet(std::move(out));
}

void Consistency::read_notices() {
  const uint64_t parity = parts_.notices.parity();
  parts_.notices.turn();
  if (std::any_of(words_.begin(), words_.end(), is_unknown)) {
    parts_.cache->writeback.flush_and_drop(true);
    return;
  }
  const bool counts = parts_.home_policies.wants_notices();
  if (parts_.cache->copies.resident() == 0 && !counts) return;
  Notice buffer[512];
  for (int r = 0; r < parts_.job.nranks; ++r) {
    if (r == parts_.job.rank) continue;
    const uint64_t total = notices_of(words_[static_cast<size_t>(r)]);
    for (uint64_t done = 0; done < total; done += std::size(buffer)) {
      const uint64_t n = std::min<uint64_t>(std::size(buffer), total - done);
      parts_.transport->get(buffer, r, parts_.layout.notice_log(r, parity) + done * sizeof(Notice), n * sizeof(Notice));
      for (uint64_t i = 0; i < n; ++i) {
        parts_.cache->writeback.invalidate(buffer[i].page(), buffer[i].pages());
        if (counts) parts_.home_policies.saw(buffer[i]);
      }
    }
  }
}

Status Consistency::move_homes(const char* call) {
  std::vector<int> speakers;
  for (size_t r = 0; r < words_.size(); ++r)
    if ((words_[r] & says_homes) != 0) speakers.push_back(static_cast<int>(r));
  return parts_.home_policies.after_barrier(std::none_of(words_.begin(), words_.end(), is_unknown), speakers, call);
}

Status Consistency::sync_drop(const char* call) {
  HIROBA_TRY(start_sync_drop(call, false));
  return end_sync_drop();
}

Status Consistency::start_sync_drop(const char* call, bool halves) {
  HIROBA_TRY(parts_.races.find(call));
  HIROBA_TRY(parts_.heap.at_barrier());
  parts_.drop();
  if (parts_.cache != nullptr) parts_.cache->fetches.preload_ahead(halves), parts_.cache->fetches.enter_between();
  HIROBA_TRY(parts_.collective.barriers().start_split(call, at_sync_drop));
  if (parts_.races.on()) parts_.races.begin_epoch();
  return {};
}

// Pages fetched since the start may be older than what others wrote before their starts.
Status Consistency::end_sync_drop() {
  HIROBA_TRY(parts_.collective.barriers().end_split());
  if (parts_.cache != nullptr && parts_.cache->fetches.leave_between()) parts_.cache->writeback.flush_and_drop(false);
  parts_.intervals.all_dropped();
  parts_.huge_pages.at_barrier();
  parts_.touches.at_barrier();
  return {};
}

void Consistency::sync() {
  const RaceChecker::Segment segment(parts_.races, SyncEvent::any);
  if (parts_.cache == nullptr) std::atomic_thread_fence(std::memory_order_seq_cst);
  else parts_.intervals.sync();
}

void Consistency::release_to(int rank) {
  if (parts_.cache != nullptr) parts_.intervals.release_to(rank);
}

void Consistency::acquire_from(int rank) {
  if (parts_.cache != nullptr) parts_.intervals.acquire_from(rank);
}

void Consistency::drop_copies() {
  if (parts_.cache != nullptr) parts_.cache->writeback.flush_and_drop(false);
}

void Consistency::note_order() {
  if (parts_.races.on()) parts_.races.recorder().note(SyncEvent::any, 0, 0);
}

}  // namespace hiroba
