#include "memory/sync/consistency.hpp"

#include <algorithm>

#include "memory/parts.hpp"
#include "memory/sync/coherence_time.hpp"

namespace hiroba {

Status Consistency::barrier(const char* call) { return barrier(call, at_barrier); }
Status Consistency::barrier_at_end(const char* call) { return barrier(call, at_end); }

Status Consistency::barrier(const char* call, uint64_t tag) {
  HIROBA_TRY(parts_.races.find(call));
  HIROBA_TRY(parts_.heap.at_barrier());
  BarrierNotices& notices = parts_.barrier_notices;
  words_.resize(static_cast<size_t>(parts_.job.nranks));
  uint64_t word = 0;
  {
    const CoherenceTime time(parts_, call);
    word = notices.before_barrier();
  }
  HIROBA_TRY(parts_.collective.barriers().with_words(call, tag, word, words_));
  if (parts_.cache != nullptr) {
    {
      const CoherenceTime time(parts_, call);
      notices.after_barrier(words_);
      parts_.intervals.after_barrier(notices.covered());
    }
    HIROBA_TRY(parts_.home_policies.after_barrier(notices.known(), notices.speakers(), call));
  }
  parts_.huge_pages.at_barrier();
  parts_.touches.at_barrier();
  if (parts_.races.on()) parts_.races.begin_epoch();
  return {};
}

PageSet Consistency::written() {
  std::vector<PageRun> out;
  if (parts_.cache == nullptr) return {};
  const CoherenceTime time(parts_, "finding of writes");
  parts_.cache->writeback.flush(true);
  parts_.home_writes.collect(parts_.notices, false);
  for (uint64_t i = 0; i < parts_.notices.count(); ++i)
    out.push_back({parts_.notices[i].page(), parts_.notices[i].pages()});
  return PageSet(std::move(out));
}

Status Consistency::sync_drop(const char* call) {
  HIROBA_TRY(start_sync_drop(call, false));
  return end_sync_drop();
}

Status Consistency::start_sync_drop(const char* call, bool halves) {
  HIROBA_TRY(parts_.races.find(call));
  HIROBA_TRY(parts_.heap.at_barrier());
  {
    const CoherenceTime time(parts_, call);
    parts_.drop();
    if (parts_.cache != nullptr) parts_.cache->fetches.preload_ahead(halves), parts_.cache->fetches.enter_between();
  }
  HIROBA_TRY(parts_.collective.barriers().start_split(call, at_sync_drop));
  if (parts_.races.on()) parts_.races.begin_epoch();
  return {};
}

// Pages fetched since the start may be older than what others wrote before their starts.
Status Consistency::end_sync_drop() {
  HIROBA_TRY(parts_.collective.barriers().end_split());
  if (parts_.cache != nullptr && parts_.cache->fetches.leave_between()) drop_copies();
  parts_.intervals.all_dropped();
  parts_.huge_pages.at_barrier();
  parts_.touches.at_barrier();
  return {};
}

void Consistency::sync() {
  const RaceChecker::Segment segment(parts_.races, SyncEvent::any);
  if (parts_.cache == nullptr) return std::atomic_thread_fence(std::memory_order_seq_cst);
  const CoherenceTime time(parts_, "flush");
  parts_.intervals.sync();
}

std::vector<uint64_t> Consistency::release() {
  note_order();
  if (parts_.cache == nullptr) return {};
  std::vector<uint64_t> positions(static_cast<size_t>(parts_.job.nnodes));
  const CoherenceTime time(parts_, "release");
  parts_.intervals.release(positions);
  return positions;
}

void Consistency::acquire(std::span<const uint64_t> positions) {
  note_order();
  if (parts_.cache == nullptr) return;
  const CoherenceTime time(parts_, "acquire");
  parts_.intervals.acquire(positions);
}

void Consistency::release_to(int rank) {
  if (parts_.cache == nullptr) return;
  const CoherenceTime time(parts_, "release");
  parts_.intervals.release_to(rank);
}

void Consistency::acquire_from(int rank) {
  if (parts_.cache == nullptr) return;
  const CoherenceTime time(parts_, "acquire");
  parts_.intervals.acquire_from(rank);
}

void Consistency::drop_copies() {
  if (parts_.cache == nullptr) return;
  const CoherenceTime time(parts_, "drop of copies");
  parts_.cache->writeback.flush_and_drop(false);
}

void Consistency::note_order() {
  if (parts_.races.on()) parts_.races.recorder().note(SyncEvent::any, 0, 0);
}

void Consistency::name_elements(std::function<ElementName(const void*)> name) {
  parts_.races.name_elements(std::move(name));
}

void Consistency::watch_own(const char* begin, const char* end) {
  if (!parts_.races.on()) return;
  const uint64_t first = begin == nullptr ? 0 : parts_.page_of(begin);
  parts_.races.recorder().watch_own({first, begin == nullptr ? 0 : parts_.page_of(end) - first});
}

// Names of words may be the same for two words: what they order is then more than it is, so no race is told falsely.
void Consistency::note_word(Word what, const void* word) {
  if (!parts_.races.on()) return;
  const auto name = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(word) / sizeof(uint32_t));
  const auto now = static_cast<uint64_t>(seconds_now() * 1e9);
  const SyncEvent::Kind kind = what == Word::changes ? SyncEvent::release : SyncEvent::acquire;
  parts_.races.recorder().note(kind, SyncEvent::words | (name & (SyncEvent::words / 2 - 1)), now);
}

void Consistency::note_turn(Turn turn, int lock, uint32_t number) {
  const SyncEvent::Kind kind = turn == Turn::begins ? SyncEvent::acquire : SyncEvent::release;
  const RaceChecker::Segment segment(parts_.races, kind, static_cast<uint32_t>(lock), number);
}

}  // namespace hiroba
