#include "memory/cache/fetches.hpp"

#include <algorithm>
#include <cstring>

#include "memory/cache/lines.hpp"
#include "memory/cache/writeback.hpp"
#include "memory/record/array_record.hpp"

namespace hiroba {

namespace {

// Pages are copied to the cache, and then to the twin while they are in the processor's cache, in slices of this size.
constexpr uint64_t copy_slice = 16;

// Prefetches the page that the answer will be written to, while the answer is under way: saves half a microsecond of a
// lone page fault.
void prefetch_lines(const char* page) {
  for (size_t at = 0; at < page_bytes; at += line_bytes) __builtin_prefetch(page + at, 1);
}

// Returns whether the page arrived as zeros, and has not been flushed since.
bool was_zero(const Copies& copies, const Array& array, uint64_t page) {
  PageStates& states = *copies.config().states;
  if (!states.take(page, PageState::valid)) return false;
  const char* const twin = copies.twin(array, page);
  const bool zero = twin[0] == 0 && std::memcmp(twin, twin + 1, page_bytes - 1) == 0;
  states.release(page, PageState::valid);
  return zero;
}

}  // namespace

// Begins to fetch absent and stale pages from `page` up to `end`, all of one home. Returns their number; after 0 there
// is nothing to finish.
uint64_t Fetches::begin(Array& array, const HomeRun& run, uint64_t page, uint64_t end, Fetch& fetch) {
  end = std::min(end, run.first + run.pages);
  uint64_t reserved = 0, absent = 0;
  for (uint64_t p = page; p < end; ++p) reserved += config_.states->state(p) == PageState::absent;
  writeback_.make_room(reserved);
  const uint64_t pages = copies_.claim(array, page, end, absent);
  copies_.reserve(absent - reserved);
  if (pages == 0) return 0;
  if (!fetch.ahead && between_.load(std::memory_order_relaxed)) {
    config_.transport->fence();
    fetched_between_.store(true, std::memory_order_relaxed);
  }
  count(begun, 1);
  fetch.array = &array, fetch.page = page, fetch.pages = pages, fetch.absent = absent;
  if (absent == 0 && config_.huge && !copies_.full()) copies_.use_huge_pages(page, pages);
  uint64_t first = page, last = page + pages;  // pages not registered at the home
  while (first < last && config_.states->flag(first, PageStates::registered)) ++first;
  while (first < last && config_.states->flag(last - 1, PageStates::registered)) --last;
  copies_.registered.add(config_.job.node_of(run.rank), first, last);
  // The answer that led here may be from before another thread acquired what the home has written since.
  fetch.empty = fetch.empty && registrations_.ask_empty(run, page, pages, true) == pages;
  const Registrations::Message message(registrations_, run, first, last - first);
  copy_in(fetch, run.rank, message.piggyback());
  return pages;
}

// Installs pages in the view. Pages that are in the view already show the new bytes, except private copies, which it
// updates.
void Fetches::show(const Fetch& fetch) const {
  Array& array = *fetch.array;
  const uint64_t end = fetch.page + fetch.pages, shown_end = fetch.page + std::min(fetch.pages, fetch.shown);
  for (uint64_t p = fetch.page, n = 1; p < end; p += n, n = 1) {
    const bool seen = config_.states->flag(p, PageStates::in_view);
    while (p + n < end && config_.states->flag(p + n, PageStates::in_view) == seen) ++n;
    if (!seen && p < shown_end) array.tracker->install(copies_.view(p), std::min(n, shown_end - p) << page_shift);
    for (uint64_t i = p; seen && i < p + n; ++i) {
      if (copies_.closed.is_closed(i)) copies_.closed.open(array, i);
      if (config_.states->flag(i, PageStates::copied) && !array.tracker->twin_at_fetch())
        std::memcpy(copies_.view(i), copies_.bytes_of(i), page_bytes);
      config_.states->clear_flag(i, PageStates::in_view);
    }
  }
}

// Waits until the pages have arrived and installs them in the view.
void Fetches::finish(Fetch& fetch) {
  Array& array = *fetch.array;
  const uint64_t page = fetch.page, pages = fetch.pages;
  config_.transport->one_sided().await(fetch.completion);
  if (fetch.twins_missing) std::memcpy(copies_.twin(array, page), copies_.bytes_of(page), pages << page_shift);
  // This must precede the program's first write to them. A concurrent flush finds them busy.
  for (uint64_t p = page; p < page + pages; p = (p / chunk_pages + 1) * chunk_pages) copies_.closed.fetched(p);
  show(fetch);
  for (uint64_t p = page; p < page + pages; ++p) config_.states->release(p, PageState::valid);
  count(array.counters.fetched, fetch.empty ? 0 : pages);
  count(array.counters.bytes_fetched, fetch.empty ? 0 : pages << page_shift);
  count(array.counters.cached, fetch.absent);
  if (recording() && !fetch.empty) note_fetched(array, page, pages);
  if (fetch.absent == pages || copies_.full()) copies_.forget_mappings(array, page, pages);
}

// Brings pages that nobody has written, of a sequence that the program fills or reads for the first time, by two
// messages for all. Returns their number; 0 if the first one has been written, or nothing tells that it has not.
uint64_t Fetches::fetch_empty(Array& array, const HomeRun& run, uint64_t page, FaultKind kind) {
  const uint64_t pages = std::min({run.first + run.pages - page, config_.readahead_pages, config_.most_at_once()});
  if (page == run.first || pages < 2 || !was_zero(copies_, array, page - 1) || !array.faults->zeros.due()) return 0;
  const uint64_t empty = registrations_.ask_empty(run, page, pages, false);
  array.faults->zeros.answered(empty > 0);
  if (empty == 0) return 0;
  Fetch fetch;
  fetch.empty = true;
  const uint64_t brought = begin(array, run, page, page + empty, fetch);
  for (uint64_t p = kind == FaultKind::load ? 1 : 0; p < brought; ++p)
    config_.states->set_flag(page + p, PageStates::guessed);
  if (brought > 0) finish(fetch);
  return empty;
}

void Fetches::copy_in(Fetch& fetch, int rank, const Piggyback* piggyback) const {
  Transport& transport = *config_.transport;
  const uint64_t offset = fetch.page << page_shift, bytes = fetch.pages << page_shift;
  const bool twins = fetch.array->tracker->twin_at_fetch();
  if (fetch.empty) {
    std::memset(copies_.bytes_of(fetch.page), 0, bytes);
    if (twins) std::memset(copies_.twin(*fetch.array, fetch.page), 0, bytes);
    return;
  }
  fetch.twins_missing = twins && transport.local_address(rank, offset) == nullptr;
  const uint64_t slice = twins && !fetch.twins_missing ? copy_slice << page_shift : bytes;
  for (uint64_t done = 0; done < bytes; done += slice) {
    const uint64_t at = offset + done, size = std::min(slice, bytes - done);
    char* const to = copies_.bytes_of(at >> page_shift);
    const Piggyback* const first = done == 0 ? piggyback : nullptr;
    if (fetch.ahead) transport.one_sided().start_deferred_get(to, rank, at, size, fetch.completion, first);
    else transport.one_sided().start_get(to, rank, at, size, fetch.completion, first);
    if (twins && !fetch.twins_missing) std::memcpy(copies_.twin(*fetch.array, at >> page_shift), to, size);
  }
}

bool Fetches::fault(Array& array, uint64_t page, FaultKind kind, uint64_t* fetched) {
  const HomeRun& run = array.home(page);
  if (copies_.is_here(run)) return false;
  if (config_.states->flag(page, PageStates::replica)) {  // the kernel has dropped the mapping
    array.tracker->install(copies_.view(page), page_bytes);
    return true;
  }
  switch (config_.states->state(page)) {
    case PageState::busy:
      if (!copies_.at_work.is_mine(page)) return wait_while_busy(page), true;
      array.tracker->install(copies_.view(page), page_bytes);
      copies_.closed.open(array, page);
      return true;
    case PageState::valid: return show_valid(array, page), true;
    default: break;
  }
  count(array.counters.faults, 1);
  const bool is_new = config_.states->state(page) == PageState::absent;
  if (is_new) {
    const uint64_t empty = fetch_empty(array, run, page, kind);
    if (fetched != nullptr) *fetched = empty;
    if (empty > 0) return true;
  }
  const Readahead::Window w = readahead_.window(array, page, kind);
  Fetch fetch;
  fetch.shown = w.shown;
  const uint64_t brought = begin(array, run, page, page + w.pages, fetch);
  if (brought == 1 && fetch.completion.left.load(std::memory_order_relaxed) > 0) prefetch_lines(copies_.bytes_of(page));
  for (uint64_t p = w.sure; p < brought; ++p) config_.states->set_flag(page + p, PageStates::guessed);
  if (fetched != nullptr) *fetched = std::max<uint64_t>(1, brought);
  if (brought > 0) finish(fetch);
  notes.note(page, std::min(std::max<uint64_t>(brought, 1), w.sure));
  if (is_new && kind == FaultKind::store) config_.states->set_flag(page, PageStates::guessed);
  else config_.states->clear_flag(page, PageStates::guessed);
  if (is_new && w.pages == 1 && readahead_.finds_no_order(page)) fetch_chunk(array, run, page);
  return true;
}

// Fetches what is missing of a chunk, unless the cache is about to be full.
void Fetches::fetch_chunk(Array& array, const HomeRun& run, uint64_t page) {
  if (config_.readahead_pages < chunk_pages || 2 * (copies_.resident() + chunk_pages) > config_.limit_pages) return;
  const uint64_t first = std::max(run.first, page / chunk_pages * chunk_pages);
  const uint64_t end = std::min(run.first + run.pages, (page / chunk_pages + 1) * chunk_pages);
  start_fetches(array, first, end, Manner::at_once);
  finish(first, end);
}

// Another thread was faster, the kernel has dropped the mapping, or the page is on trial: then as many of those after
// it are shown as were used before it. Only the holder of a page may install it, because another thread may be evicting
// it.
void Fetches::show_valid(Array& array, uint64_t page) {
  PageStates& states = *config_.states;
  if (!states.take(page, PageState::valid)) return;
  uint64_t end = page + 1;
  if (states.flag(page, PageStates::guessed)) {
    const auto is_used = [&](uint64_t p) {
      return states.state(p) == PageState::valid && !states.flag(p, PageStates::guessed);
    };
    uint64_t used = 0;
    while (used < config_.readahead_pages && page - used > array.first_page && is_used(page - used - 1)) ++used;
    const uint64_t most = std::min(array.end_page, page + used);
    while (end < most && states.flag(end, PageStates::guessed) && states.take(end, PageState::valid)) ++end;
    array.faults->trials.used(page, end - page);
    notes.note(page, end - page);
  }
  array.tracker->install(copies_.view(page), (end - page) << page_shift);
  for (uint64_t p = page; p < end; ++p) {
    if (p == page || copies_.closed.is_closed(p)) copies_.closed.open(array, p);  // the access may be a write
    states.clear_flag(p, PageStates::guessed);
    states.release(p, PageState::valid);
  }
}

// ---- preloads ----------------------------------------------------------------------------------------------------

bool Fetches::start_preload(Array& array, uint64_t first, uint64_t end, bool on_trial) {
  if (!on_trial) foresight_.note(first, end);
  return start_fetches(array, first, end, on_trial ? Manner::on_trial : Manner::at_once);
}

// A wrong guess costs its fetch; the pages that the program preloads are then fetched as usual.
void Fetches::preload_ahead(bool halves) {
  unattended_.store(true, std::memory_order_relaxed);
  for (const PageRun& run : foresight_.turn()) {
    Array* const array = config_.arrays->live(run.first);  // it may have been freed since
    if (array != nullptr && (!halves || copies_.stays(*array)))
      start_fetches(*array, run.first, std::min(array->end_page, run.first + run.pages), Manner::ahead);
  }
}

void Fetches::enter_between() {
  fetched_between_.store(false, std::memory_order_relaxed);
  between_.store(true, std::memory_order_relaxed);
}

bool Fetches::leave_between() {
  between_.store(false, std::memory_order_relaxed);
  return fetched_between_.load(std::memory_order_relaxed);
}

// Starts fetches in slots, so that any thread that needs one of their pages can finish them.
bool Fetches::start_fetches(Array& array, uint64_t first, uint64_t end, Manner manner) {
  uint64_t room = config_.limit_pages - config_.limit_pages / 4;
  const bool ahead = manner == Manner::ahead, on_trial = manner == Manner::on_trial;
  bool any = false;
  const HomeRun* const last = array.homes.data() + array.homes.size();
  for (const HomeRun* at = &array.home(first); at != last && at->first < end; ++at) {
    const HomeRun& run = *at;
    if (copies_.is_here(run)) continue;
    if (ahead && !config_.transport->one_sided().defers_gets(run.rank)) continue;
    const uint64_t run_end = std::min(run.first + run.pages, end);
    // Remote pages are fetched in several pieces at once; pages that are copied directly, in one.
    const bool direct = config_.transport->local_address(run.rank, run.first << page_shift) != nullptr;
    const uint64_t batch = std::min<uint64_t>(direct ? 16384 : 1024, config_.most_at_once());
    uint64_t p = std::max(run.first, first);
    while (p < run_end && room > 0) {
      const PageState state = config_.states->state(p);
      if (state == PageState::valid || config_.states->flag(p, PageStates::replica)) {
        if (!on_trial && config_.states->flag(p, PageStates::guessed)) show_valid(array, p);
        ++p;
        continue;
      }
      if (state == PageState::busy) {
        if (array_under_way(p, p + 1) != nullptr)
          ++p, any = any || unattended_.exchange(false, std::memory_order_relaxed);
        else wait_while_busy(p);
        continue;
      }
      Fetch* const slot = free_slot();
      if (slot == nullptr) {
        if (ahead) return any;  // no deferred get is answered before the barrier
        finish_slot(fetches_[slot_turn_.fetch_add(1, std::memory_order_relaxed) % most_fetches]);
        continue;
      }
      Fetch& fetch = *slot;
      fetch.ahead = ahead, fetch.shown = on_trial ? 0 : UINT64_MAX;
      const uint64_t coming = begin(array, run, p, std::min({run_end, p + batch, p + room}), fetch);
      for (uint64_t i = 0; i < coming; ++i) {
        if (on_trial) config_.states->set_flag(p + i, PageStates::guessed);
        else config_.states->clear_flag(p + i, PageStates::guessed);
      }
      fetch.state.store(coming > 0 ? Fetch::under_way : Fetch::free, std::memory_order_release);
      count(array.counters.preloaded, coming);
      p += coming, room -= coming;
      if (direct && coming > 0) finish_slot(fetch);
      any = any || (!direct && coming > 0);
    }
    hide_stale(array, p, run_end);
  }
  return any;
}

// Hides stale pages in the view for which a fetch has no room.
void Fetches::hide_stale(Array& array, uint64_t first, uint64_t end) const {
  for (uint64_t page = first; page < end; ++page) {
    if (!copies_.take_stale_in_view(page)) continue;
    copies_.hide(array, page);
    config_.states->release(page, PageState::stale);
  }
}

// Returns a slot to be filled; null if all are in use.
Fetches::Fetch* Fetches::free_slot() {
  for (Fetch& fetch : fetches_) {
    uint32_t free = Fetch::free;
    if (fetch.state.compare_exchange_strong(free, Fetch::filling, std::memory_order_acquire)) return &fetch;
  }
  return nullptr;
}

Array* Fetches::array_under_way(uint64_t first, uint64_t end) const {
  const auto* const found = std::find_if(std::begin(fetches_), std::end(fetches_), [first, end](const Fetch& fetch) {
    return fetch.state.load(std::memory_order_acquire) == Fetch::under_way && fetch.page < end &&
           fetch.page + fetch.pages > first;
  });
  return found == std::end(fetches_) ? nullptr : found->array;
}

// Finishes the fetch in this slot; returns false if there is none, or another thread is finishing it.
bool Fetches::finish_slot(Fetch& fetch) {
  uint32_t under_way = Fetch::under_way;
  if (!fetch.state.compare_exchange_strong(under_way, Fetch::finishing, std::memory_order_acquire)) return false;
  finish(fetch);
  fetch.state.store(Fetch::free, std::memory_order_release);
  return true;
}

void Fetches::finish(uint64_t first, uint64_t end) {
  const auto is_wanted = [&](const Fetch& fetch) {
    return (first == 0 && end == UINT64_MAX) || (fetch.page < end && fetch.page + fetch.pages > first);
  };
  for (Fetch& fetch : fetches_)
    for (Backoff backoff(200); fetch.state.load(std::memory_order_acquire) != Fetch::free && is_wanted(fetch);)
      if (!finish_slot(fetch) && !backoff.step()) usleep(20);
}

bool Fetches::have_ended(uint64_t first, uint64_t end) {
  bool all = true;
  for (Fetch& fetch : fetches_) {
    if (fetch.state.load(std::memory_order_acquire) == Fetch::free) continue;
    if (fetch.page >= end || fetch.page + fetch.pages <= first) continue;
    all = (fetch.completion.left.load(std::memory_order_acquire) == 0 && finish_slot(fetch)) && all;
  }
  return all;
}

// Looks at the slots repeatedly: the page may have been claimed for a fetch that has not started yet.
void Fetches::wait_while_busy(uint64_t page) {
  for (Backoff backoff(200); config_.states->state(page) == PageState::busy;) {
    bool finished = false;
    for (Fetch& fetch : fetches_)
      if (fetch.state.load(std::memory_order_acquire) == Fetch::under_way && page - fetch.page < fetch.pages)
        finished = finish_slot(fetch) || finished;
    if (!finished && !backoff.step()) usleep(20);
  }
}

}  // namespace hiroba
