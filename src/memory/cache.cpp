#include "memory/cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace hiroba {

namespace {

constexpr uint64_t chunk_pages = PageBits::pages;
constexpr uint16_t chunk_tried = 0x8000;  // in a chunk's count: huge pages were tried
constexpr uint64_t copy_slice =
    16;  // pages copied to the cache and then to the twin while they are in the core's own cache

// What one rank puts into another node's directory.
constexpr auto ones = [] {
  std::array<char, 4096> bytes{};
  bytes.fill(1);
  return bytes;
}();

}  // namespace

Status Cache::start(const Config& config) {
  config_ = config;
  HIROBA_TRY(cache_file_.create("hiroba-cache", config.layout.space));
  HIROBA_TRY(twin_file_.create("hiroba-twins", config.layout.space));
  order_size_ = config.limit_pages + config.limit_pages / 4 + 4 * chunk_pages;
  HIROBA_TRY(order_file_.create("hiroba-order", order_size_ * sizeof(uint32_t)));
  HIROBA_TRY(chunk_file_.create("hiroba-chunks", config.layout.pages() / chunk_pages * sizeof(uint16_t)));
  order_ = order_file_.as<uint32_t>();
  chunk_count_ = chunk_file_.as<std::atomic<uint16_t>>();
  const TrackerParts parts = {config.base, config.layout.space, cache_file_, *config.uffd, *config.pagemap};
  shared_tracker_ = make_shared_tracker(parts);
  private_tracker_ = make_private_tracker(parts);
  HIROBA_TRY(shared_tracker_->start());
  return private_tracker_->start();
}

struct Cache::Piece {
  Array& array;
  const HomeRun& run;
  uint64_t first, end;
};

// Pieces of the array, within [first, end), that may hold copies.
template <typename Visit>
void Cache::for_each_piece(Array& array, uint64_t first, uint64_t end, const Visit& visit) {
  first = std::max(first, array.cached_low.load(std::memory_order_relaxed));
  end = std::min(end, array.cached_high.load(std::memory_order_relaxed));
  for (const HomeRun& run : array.homes) {
    if (here(run) || run.first + run.pages <= first) continue;
    if (run.first >= end) return;
    const uint64_t run_end = std::min(run.first + run.pages, end);
    for (uint64_t p = std::max(run.first, first); p < run_end;) {
      const uint64_t chunk = p / chunk_pages;
      const uint64_t piece_end = std::min(run_end, (chunk + 1) * chunk_pages);
      if (chunk_count_[chunk].load(std::memory_order_relaxed) != 0) visit(Piece{array, run, p, piece_end});
      p = piece_end;
    }
  }
}

Status Cache::add(Array& array, bool twin_at_fetch) {
  array.tracker = twin_at_fetch ? shared_tracker_.get() : private_tracker_.get();
  for (size_t i = 0; i < array.homes.size();) {  // neighbouring runs of other nodes are one mapping
    const HomeRun& run = array.homes[i++];
    if (here(run)) continue;
    uint64_t end = run.first + run.pages;
    while (i < array.homes.size() && !here(array.homes[i])) end = array.homes[i].first + array.homes[i].pages, ++i;
    HIROBA_TRY(array.tracker->map(view(run.first), (end - run.first) << page_shift, run.first << page_shift));
  }
  return {};
}

void Cache::remove(Array& array) {
  uint64_t gone = 0;
  for_each_piece(array, array.first_page, array.end_page, [&](const Piece& piece) {
    for (uint64_t p = piece.first; p < piece.end; ++p) {
      if (!config_.states->take(p, PageState::valid) && !config_.states->take(p, PageState::stale)) continue;
      config_.states->release(p, PageState::absent);
      ++gone;
    }
  });
  resident_ -= gone;
  array.counters.cached -= gone;
  const uint64_t pages = array.end_page - array.first_page;
  cache_file_.punch(array.first_page << page_shift, pages << page_shift);
  twin_file_.punch(array.first_page << page_shift, pages << page_shift);
  const uint64_t chunk = array.first_page / chunk_pages;  // arrays do not share chunks
  chunk_file_.punch(chunk * sizeof(uint16_t), ((array.end_page - 1) / chunk_pages + 1 - chunk) * sizeof(uint16_t));
  uint64_t kept = order_first_;
  for (uint64_t i = order_first_; i < order_last_; ++i) {
    const uint32_t page = order_[i % order_size_];
    if (page < array.first_page || page >= array.end_page) order_[kept++ % order_size_] = page;
  }
  order_last_ = kept;
}

// ---- bringing pages ----------------------------------------------------------------------------------------------

// Whether a page is out of date and was used when it was not.
bool Cache::was_used(uint64_t page) const {
  return config_.states->state(page) == PageState::stale && !config_.states->flag(page, PageStates::guessed);
}

// How many pages, from this one, a fault on it should bring, and how many of them are not guesses.
Cache::Window Cache::window(const Array& array, uint64_t page) {
  const uint64_t most = std::min(config_.readahead_pages, most_at_once());
  if (was_used(page)) {  // the neighbours that were used too are likely to be used again
    uint64_t n = 1;
    while (n < most && page + n < array.end_page && was_used(page + n)) ++n;
    return {n, n};
  }
  for (size_t s = 0; s < streams; ++s) {
    uint64_t expected = page;
    const uint64_t last = stream_window_[s].load(std::memory_order_relaxed), size = std::min(most, last * 4);
    if (stream_next_[s].load(std::memory_order_relaxed) != page || size == 0) continue;
    if (!stream_next_[s].compare_exchange_strong(expected, page + size, std::memory_order_relaxed)) continue;
    stream_window_[s].store(size, std::memory_order_relaxed);
    // The accesses have come past the last window, so guessing it was right.
    for (uint64_t p = page - std::min(page, last); p < page; ++p) config_.states->clear_flag(p, PageStates::guessed);
    return {size, 1};
  }
  const size_t s = stream_turn_.fetch_add(1, std::memory_order_relaxed) % streams;
  stream_next_[s].store(page + 1, std::memory_order_relaxed);
  stream_window_[s].store(1, std::memory_order_relaxed);
  return {1, 1};
}

// Takes absent and stale pages from `page` up to the first other one; returns how many, and how many were absent.
uint64_t Cache::claim(Array& array, uint64_t page, uint64_t end, uint64_t& absent) {
  const auto extend = [](std::atomic<uint64_t>& bound, uint64_t to, auto better) {
    uint64_t old = bound.load(std::memory_order_relaxed);
    while (better(to, old) && !bound.compare_exchange_weak(old, to, std::memory_order_relaxed)) {
    }
  };
  extend(array.cached_low, page, std::less<>());
  uint64_t p = page;
  absent = 0;
  for (; p < end; ++p) {
    if (config_.states->take(p, PageState::stale)) continue;
    if (!config_.states->take(p, PageState::absent)) break;
    ++absent;
    chunk_count_[p / chunk_pages].fetch_add(1, std::memory_order_relaxed);
    remember(p);
  }
  extend(array.cached_high, p, std::greater<>());
  return p - page;
}

// Fetches pages from `page` on that are not here, at most up to `end`, all of one home. Returns how many it brought.
uint64_t Cache::bring(Array& array, const HomeRun& run, uint64_t page, uint64_t end) {
  end = std::min(end, run.first + run.pages);
  uint64_t reserved = 0, absent = 0;
  for (uint64_t p = page; p < end; ++p) reserved += config_.states->state(p) == PageState::absent;
  make_room(reserved);
  const uint64_t pages = claim(array, page, end, absent);
  resident_.fetch_add(absent - reserved, std::memory_order_relaxed);
  if (pages == 0) return 0;
  announce(run, page, pages);
  if (absent == 0 && config_.huge && !full_.load(std::memory_order_relaxed)) use_huge_pages(page, pages);
  copy_in(array, run, page, pages);
  array.tracker->install(view(page), pages << page_shift);
  for (uint64_t p = page; p < page + pages; ++p) config_.states->release(p, PageState::valid);
  count(array.counters.fetched, pages);
  count(array.counters.bytes_fetched, pages << page_shift);
  count(array.counters.cached, absent);
  if (absent == pages || full_.load(std::memory_order_relaxed)) forget_mappings(array, page, pages);
  return pages;
}

// Tells the home node that these pages have copies elsewhere, before they are read: see README.md, "Home pages".
void Cache::announce(const HomeRun& run, uint64_t page, uint64_t pages) {
  Transport& transport = *config_.transport;
  const int node = config_.job.node_of(run.rank), keeper = config_.job.first_rank_of(node);
  for (uint64_t p = page; p < page + pages;) {
    if (config_.states->flag(p, PageStates::announced)) {
      ++p;
      continue;
    }
    uint64_t n = 0;
    while (p + n < page + pages && n < ones.size() && !config_.states->flag(p + n, PageStates::announced))
      config_.states->set_flag(p + n++, PageStates::announced);
    transport.put(keeper, config_.layout.directory(node) + p, ones.data(), n);
    transport.fence();
    const uint64_t index = transport.fetch_add64(keeper, config_.layout.news(keeper), 1);
    const uint64_t word = news_word(index, p, n);
    transport.put(keeper, config_.layout.news_slot(keeper, index), &word, sizeof word);
    transport.fence();
    p += n;
  }
}

// Chunks that are fetched a second time as a whole are worth huge pages.
void Cache::use_huge_pages(uint64_t page, uint64_t pages) {
  for (uint64_t p = (page + chunk_pages - 1) / chunk_pages * chunk_pages; p + chunk_pages <= page + pages;
       p += chunk_pages)
    if ((chunk_count_[p / chunk_pages].fetch_or(chunk_tried, std::memory_order_relaxed) & chunk_tried) == 0)
      collapse(cache_file_.data() + (p << page_shift), huge_page_bytes);
}

void Cache::copy_in(Array& array, const HomeRun& run, uint64_t page, uint64_t pages) {
  const uint64_t slice = array.tracker->twin_at_fetch() ? copy_slice : pages;
  for (uint64_t done = 0; done < pages; done += slice) {
    const uint64_t offset = (page + done) << page_shift;
    const size_t bytes = std::min(slice, pages - done) << page_shift;
    config_.transport->get(cache_file_.data() + offset, run.rank, offset, bytes);
    if (array.tracker->twin_at_fetch()) std::memcpy(twin_file_.data() + offset, cache_file_.data() + offset, bytes);
  }
}

bool Cache::fault(Array& array, uint64_t page) {
  const HomeRun& run = array.home(page);
  if (here(run)) return false;
  switch (config_.states->state(page)) {
    case PageState::busy: config_.states->wait_while_busy(page); return true;
    case PageState::valid:
      // Another thread was faster, or the kernel has dropped the mapping. Only the owner of a page may install it: it
      // could be on its way out.
      if (config_.states->take(page, PageState::valid)) {
        array.tracker->install(view(page), page_bytes);
        config_.states->release(page, PageState::valid);
      }
      return true;
    default: break;
  }
  count(array.counters.faults, 1);
  const Window w = window(array, page);
  const uint64_t brought = bring(array, run, page, page + w.pages);
  config_.states->clear_flag(page, PageStates::guessed);
  for (uint64_t p = w.sure; p < brought; ++p) config_.states->set_flag(page + p, PageStates::guessed);
  return true;
}

void Cache::preload(Array& array, uint64_t first, uint64_t end) {
  const uint64_t batch = std::min<uint64_t>(16384, most_at_once());
  uint64_t room = config_.limit_pages - config_.limit_pages / 4;
  for (const HomeRun& run : array.homes) {
    if (here(run) || run.first + run.pages <= first) continue;
    const uint64_t run_end = std::min(run.first + run.pages, end);
    for (uint64_t p = std::max(run.first, first); p < run_end && room > 0;) {
      const PageState state = config_.states->state(p);
      if (state == PageState::busy) config_.states->wait_while_busy(p);
      if (state == PageState::valid) ++p;
      if (state == PageState::busy || state == PageState::valid) continue;
      const uint64_t brought = bring(array, run, p, std::min({run_end, p + batch, p + room}));
      count(array.counters.preloaded, brought);
      for (uint64_t i = 0; i < brought; ++i) config_.states->clear_flag(p + i, PageStates::guessed);
      p += brought, room -= brought;
    }
  }
}

// Diffs of pages of one array, gathered per home and sent when there are enough. Under the flush lock.
class Cache::Packer {
 public:
  Packer(Cache& cache, Array& array) : cache_(cache), array_(array) {}

  // The page is busy and ours, or nobody else can change its state. Returns false if nothing had changed.
  bool add(uint64_t page) {
    const HomeRun& run = array_.home(page);
    if (run.rank != rank_ || used_ + max_diff_words > packed_words) send();
    rank_ = run.rank;
    char* const twin =
        (array_.tracker->twin_at_fetch() ? cache_.twin_file_ : cache_.cache_file_).data() + (page << page_shift);
    const char* const now = array_.tracker->content(cache_.view(page));
    const size_t words = diff_page(now, twin, page << page_shift, cache_.packed_ + used_);
    count(array_.counters.diffed, 1);
    if (words == 0) return false;
    used_ += words;
    cache_.config_.notices->add(page, 1);
    count(array_.counters.notices, 1);
    return true;
  }

  void send() {
    if (used_ == 0) return;
    cache_.config_.transport->put_packed(rank_, {cache_.packed_, used_});
    count(array_.counters.bytes_sent, used_ * sizeof(uint64_t));
    used_ = 0;
    sent_ = true;
  }

  // Also waits until it is there, so that a page fetched from now on has these changes.
  void send_and_fence() {
    send();
    if (sent_) cache_.config_.transport->fence();
  }

 private:
  Cache& cache_;
  Array& array_;
  int rank_ = -1;
  size_t used_ = 0;
  bool sent_ = false;
};

// ---- making room -------------------------------------------------------------------------------------------------

void Cache::remember(uint64_t page) {
  order_lock_.lock();
  order_[order_last_++ % order_size_] = static_cast<uint32_t>(page);
  order_lock_.unlock();
}

// Gives back what other mappings of these pages than the view cost, here and in the transport, so that this process
// holds no more than the cache: for pages that come for the first time, and all that pass through a full cache. Pages
// that are fetched again and again keep them, which is faster.
void Cache::forget_mappings(const Array& array, uint64_t page, uint64_t pages) {
  const uint64_t offset = page << page_shift, bytes = pages << page_shift;
  config_.transport->forget(offset, bytes);
  madvise(cache_file_.data() + offset, bytes, MADV_DONTNEED);
  if (array.tracker->twin_at_fetch()) madvise(twin_file_.data() + offset, bytes, MADV_DONTNEED);
}

// Reserves room; called before pages are claimed, because evicting takes the flush lock.
void Cache::make_room(uint64_t pages) {
  const uint64_t now = resident_.fetch_add(pages, std::memory_order_relaxed) + pages;
  if (now <= config_.limit_pages) return;
  if (!full_.exchange(true, std::memory_order_relaxed))
    config_.arrays->for_each_live([this](Array& array) {
      if (array.tracker != nullptr) forget_mappings(array, array.first_page, array.end_page - array.first_page);
    });
  evict(std::max(now - config_.limit_pages, std::min<uint64_t>(64, config_.limit_pages / 8)));
}

// Drops the pages that came first, whole runs at a time. Pages in use by another fetch are passed over, so in the
// worst case fewer go than asked and the cache exceeds its limit by what is in flight.
void Cache::evict(uint64_t pages) {
  flush_lock_.lock();
  uint64_t run = 0, length = 0;  // taken, not yet dropped
  bool run_valid = false;
  for (uint64_t attempts = order_last_ - order_first_; attempts > 0 && pages > 0; --attempts) {
    order_lock_.lock();
    const bool any = order_first_ < order_last_;
    const uint64_t page = any ? order_[order_first_++ % order_size_] : 0;
    order_lock_.unlock();
    if (!any) break;
    const bool valid = config_.states->take(page, PageState::valid);
    if (!valid && !config_.states->take(page, PageState::stale)) {
      remember(page);  // busy
      continue;
    }
    if (length > 0 && (page != run + length || page % chunk_pages == 0 || valid != run_valid)) {
      evict_run(run, length, run_valid);
      length = 0;
    }
    if (length++ == 0) run = page, run_valid = valid;
    --pages;
  }
  if (length > 0) evict_run(run, length, run_valid);
  flush_lock_.unlock();
}

// Pages within a chunk, all busy and ours. Written ones go home first. Stale ones are not even frozen: that would let
// another thread read them.
void Cache::evict_run(uint64_t page, uint64_t pages, bool valid) {
  Array& array = *config_.arrays->live(page);
  if (valid) {
    PageBits written;
    array.tracker->freeze(view(page), pages << page_shift, false);
    array.tracker->collect(view(page), pages, written);
    Packer packer(*this, array);
    for (uint64_t p = 0; p < pages; ++p)
      if (written.test(p)) packer.add(page + p);
    packer.send_and_fence();
    array.tracker->discard(view(page), pages << page_shift, false);
  }
  forget_mappings(array, page, pages);  // sending home maps, too
  cache_file_.punch(page << page_shift, pages << page_shift);
  if (array.tracker->twin_at_fetch()) twin_file_.punch(page << page_shift, pages << page_shift);
  for (uint64_t p = page; p < page + pages; ++p) config_.states->release(p, PageState::absent);
  chunk_count_[page / chunk_pages].fetch_sub(static_cast<uint16_t>(pages), std::memory_order_relaxed);
  chunk_count_[page / chunk_pages].fetch_and(static_cast<uint16_t>(~chunk_tried), std::memory_order_relaxed);
  resident_.fetch_sub(pages, std::memory_order_relaxed);
  count(array.counters.evicted, pages);
  array.counters.cached.fetch_sub(pages, std::memory_order_relaxed);
}

// ---- sending writes home -----------------------------------------------------------------------------------------

// Takes the page if it is valid, also if another thread is just busy with it.
bool Cache::take_valid(uint64_t page) {
  while (!config_.states->take(page, PageState::valid)) {
    if (config_.states->state(page) != PageState::busy) return false;
    config_.states->wait_while_busy(page);
  }
  return true;
}

void Cache::flush_piece(const Piece& piece, bool alone) {
  const uint64_t pages = piece.end - piece.first;
  PageBits written;
  piece.array.tracker->collect(view(piece.first), pages, written);
  Packer packer(*this, piece.array);
  for (uint64_t i = 0; i < pages; ++i) {
    const uint64_t page = piece.first + i;
    if (!written.test(i) || !take_valid(page)) continue;  // not valid: a marker of an absent page
    if (!packer.add(page) && alone) piece.array.tracker->settle(view(page), page_bytes);
    config_.states->release(page, PageState::valid);
  }
  packer.send();
  if (full_.load(std::memory_order_relaxed)) forget_mappings(piece.array, piece.first, pages);
}

// `written`: there may be writes that no flush has seen.
void Cache::drop_piece(const Piece& piece, bool alone, bool written) {
  PageBits taken;
  uint64_t dropped = 0;
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!take_valid(page)) continue;
    taken.set(page - piece.first);
    ++dropped;
  }
  if (dropped == 0) return;
  // Alone, nothing but taken pages is mapped, so the whole piece goes at once; else run by run.
  const auto for_each_run = [&](const auto& visit) {
    if (alone) return visit(piece.first, piece.end - piece.first);
    for (uint64_t p = piece.first; p < piece.end; ++p) {
      uint64_t n = 0;
      while (p + n < piece.end && taken.test(p + n - piece.first)) ++n;
      if (n > 0) visit(p, n), p += n;
    }
  };
  Tracker& tracker = *piece.array.tracker;
  Packer packer(*this, piece.array);
  for_each_run([&](uint64_t page, uint64_t pages) {
    tracker.freeze(view(page), pages << page_shift, alone);
    if (!written) return;
    PageBits bits;
    tracker.collect(view(page), pages, bits);
    for (uint64_t i = 0; i < pages; ++i)
      if (bits.test(i) && taken.test(page + i - piece.first)) packer.add(page + i);
  });
  packer.send_and_fence();
  if (written && full_.load(std::memory_order_relaxed))
    forget_mappings(piece.array, piece.first, piece.end - piece.first);
  for_each_run([&](uint64_t page, uint64_t pages) { tracker.discard(view(page), pages << page_shift, alone); });
  for (uint64_t page = piece.first; page < piece.end; ++page)
    if (taken.test(page - piece.first)) config_.states->release(page, PageState::stale);
  count(piece.array.counters.invalidated, dropped);
}

void Cache::flush(bool alone) {
  flush_lock_.lock();
  config_.arrays->for_each_live([&](Array& array) {
    for_each_piece(array, array.first_page, array.end_page, [&](const Piece& piece) { flush_piece(piece, alone); });
  });
  config_.transport->fence();
  flush_lock_.unlock();
}

void Cache::flush_and_drop(bool alone) {
  flush_lock_.lock();
  config_.arrays->for_each_live([&](Array& array) {
    for_each_piece(array, array.first_page, array.end_page,
                   [&](const Piece& piece) { drop_piece(piece, alone, true); });
  });
  flush_lock_.unlock();
}

void Cache::flush_and_drop(Array& array, uint64_t page) {
  flush_lock_.lock();
  for_each_piece(array, page, page + 1, [&](const Piece& piece) { drop_piece(piece, false, true); });
  flush_lock_.unlock();
}

void Cache::invalidate(uint64_t page, uint64_t pages) {
  const uint64_t end = page + pages;
  while (page < end) {
    Array* const array = config_.arrays->live(page);
    if (array == nullptr) return;
    const uint64_t array_end = std::min(end, array->end_page);
    for_each_piece(*array, page, array_end, [&](const Piece& piece) { drop_piece(piece, true, false); });
    page = array_end;
  }
}

void Cache::note(uint64_t page) {
  flush_lock_.lock();
  config_.notices->add(page, 1);
  flush_lock_.unlock();
}

}  // namespace hiroba
