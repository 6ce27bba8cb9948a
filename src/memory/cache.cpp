#include "memory/cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace hiroba {

namespace {

constexpr uint64_t chunk_pages = PageBits::pages;

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
  Status status;
  const auto elsewhere = [this](int rank) { return config_.job.node_of(rank) != config_.job.node; };
  array.for_each_run_of(elsewhere, [&](uint64_t first, uint64_t pages) {
    if (status.ok()) status = array.tracker->map(view(first), pages << page_shift, first << page_shift);
  });
  return status;
}

void Cache::remove(Array& array) {
  finish_preloads();
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

// What has changed in pages of one array, on its way to their homes: differences are gathered and sent when there are
// enough of them; of pages that have changed in every byte, many in a row go as they are. Under the flush lock.
class Cache::Packer {
 public:
  Packer(Cache& cache, Array& array) : cache_(cache), array_(array) {}

  // The page is busy and ours, or nobody else can change its state. Returns false if nothing had changed.
  bool add(uint64_t page) {
    const HomeRun& run = array_.home(page);
    if (run.rank != rank_) send();
    rank_ = run.rank;
    uint64_t* const out = room();
    const char* const now = array_.tracker->content(cache_.view(page));
    const size_t words = diff_page(now, twin(page), page << page_shift, out);
    ++compared_;
    if (words == 0) return false;
    ++changed_;
    if (words == whole_page) add_whole(page);
    else used_ += words;
    if (++cache_.since_progress_ % progress_pages == 0 && cache_.sending()) cache_.config_.transport->progress();
    cache_.config_.notices->add(page, 1);
    return true;
  }

  void send() {
    send_whole();
    send_packed();
    count(array_.counters.diffed, std::exchange(compared_, 0));
    count(array_.counters.notices, std::exchange(changed_, 0));
  }

  // Also waits until it is there, so that a page fetched from now on has these changes.
  void send_and_fence() {
    send();
    if (sent_) cache_.config_.transport->fence();
  }

 private:
  // Of pages in a row, so many go faster as they are than beside others in one message, and so many at once: README.md.
  static constexpr uint64_t many = 16, most = 1024;
  // Where the processor itself sends, more at once goes faster: every 16 pages cost a barrier of 10,000 two of 31 ms.
  static constexpr uint32_t progress_pages = 2048;

  Outgoing& outgoing() { return cache_.outgoing_[cache_.outgoing_turn_ % outgoings]; }
  char* twin(uint64_t page) const {
    return (array_.tracker->twin_at_fetch() ? cache_.twin_file_ : cache_.cache_file_).data() + (page << page_shift);
  }

  // For the differences of a page.
  uint64_t* room() {
    if (used_ + max_diff_words > packed_words) send_packed();
    if (used_ == 0) cache_.config_.transport->await(outgoing().sent);
    return outgoing().words + used_;
  }

  void add_whole(uint64_t page) {
    if (page != whole_.first + whole_.pages || whole_.pages == most) send_whole();
    if (whole_.pages++ == 0) whole_.first = page;
  }

  void send_whole() {
    const uint64_t offset = whole_.first << page_shift, bytes = whole_.pages << page_shift;
    if (whole_.pages >= many) {
      cache_.config_.transport->start_put(rank_, offset, twin(whole_.first), bytes, cache_.whole_sent_);
      count(array_.counters.bytes_sent, bytes);
      sent_ = true;
    } else {
      for (uint64_t done = 0; done < bytes; done += page_bytes) {
        uint64_t* const out = room();
        out[0] = (offset + done) << 16 | page_bytes;
        std::memcpy(out + 1, twin(whole_.first) + done, page_bytes);
        used_ += 1 + page_bytes / sizeof *out;
      }
    }
    whole_.pages = 0;
  }

  void send_packed() {
    if (used_ == 0) return;
    cache_.config_.transport->start_put_packed(rank_, {outgoing().words, used_}, outgoing().sent);
    ++cache_.outgoing_turn_;
    count(array_.counters.bytes_sent, used_ * sizeof(uint64_t));
    used_ = 0;
    sent_ = true;
  }

  Cache& cache_;
  Array& array_;
  int rank_ = -1;
  size_t used_ = 0;         // words of the differences that have been gathered
  PageRun whole_ = {0, 0};  // that have changed in every byte
  uint64_t compared_ = 0, changed_ = 0;
  bool sent_ = false;
};

bool Cache::sending() const {
  const auto under_way = [](const Completion& sent) { return sent.left.load(std::memory_order_relaxed) > 0; };
  return under_way(whole_sent_) ||
         std::any_of(std::begin(outgoing_), std::end(outgoing_), [&](const Outgoing& o) { return under_way(o.sent); });
}

// Under the flush lock, before it is released: nothing is under way from then on.
void Cache::await_outgoing() {
  for (Outgoing& outgoing : outgoing_) config_.transport->await(outgoing.sent);
  config_.transport->await(whole_sent_);
}

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
  config_.transport->release_mapping(offset, bytes);
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
  await_outgoing();
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
  } else {
    for (uint64_t p = page; p < page + pages; ++p)
      if (config_.states->flag(p, PageStates::outdated)) hide(array, p);
  }
  forget_mappings(array, page, pages);  // sending home maps, too
  cache_file_.punch(page << page_shift, pages << page_shift);
  if (array.tracker->twin_at_fetch()) twin_file_.punch(page << page_shift, pages << page_shift);
  for (uint64_t p = page; p < page + pages; ++p) {
    config_.states->clear_flag(p, PageStates::copied);
    config_.states->release(p, PageState::absent);
  }
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
    wait_while_busy(page);
  }
  return true;
}

// From the first to the last page that may have been written: others are out of date, and nobody has preloaded them.
Cache::Piece Cache::in_use(const Piece& piece) const {
  const auto used = [this](uint64_t page) {
    const PageState state = config_.states->state(page);
    return state == PageState::valid || state == PageState::busy;
  };
  uint64_t first = piece.first, end = piece.end;
  while (first < end && !used(first)) ++first;
  while (end > first && !used(end - 1)) --end;
  return {piece.array, piece.run, first, end};
}

void Cache::flush_piece(const Piece& whole, bool alone) {
  const Piece piece = in_use(whole);
  const uint64_t pages = piece.end - piece.first;
  if (pages == 0) return;
  PageBits written, unchanged;
  piece.array.tracker->collect(view(piece.first), pages, written);
  // All at once: an atomic operation after each comparison would wait until the twin's bytes are stored.
  for (uint64_t i = 0; i < pages; ++i) {
    if (!written.test(i)) continue;
    if (take_valid(piece.first + i)) config_.states->set_flag(piece.first + i, PageStates::copied);
    else written.clear(i);  // a marker of an absent page
  }
  Packer packer(*this, piece.array);
  for (uint64_t i = 0; i < pages; ++i)
    if (written.test(i) && !packer.add(piece.first + i)) unchanged.set(i);
  packer.send();
  // What stays in the view may well be written in the next epoch but one, and then a copy costs more than comparing it.
  if (alone && !stays(piece.array)) settle(piece, unchanged);
  for (uint64_t i = 0; i < pages; ++i)
    if (written.test(i)) config_.states->release(piece.first + i, PageState::valid);
  if (full_.load(std::memory_order_relaxed)) forget_mappings(piece.array, piece.first, pages);
}

// Gives up private copies that equal their twins.
void Cache::settle(const Piece& piece, const PageBits& unchanged) {
  unchanged.for_each_run(piece.end - piece.first, [&](uint64_t first, uint64_t pages) {
    piece.array.tracker->settle(view(piece.first + first), pages << page_shift);
    for (uint64_t i = first; i < first + pages; ++i) config_.states->clear_flag(piece.first + i, PageStates::copied);
  });
}

bool Cache::take_outdated(uint64_t page) {
  return config_.states->flag(page, PageStates::outdated) && config_.states->take(page, PageState::stale);
}

// `written`: there may be writes that no flush has seen.
void Cache::drop_piece(const Piece& piece, bool alone, bool written) {
  PageBits taken;
  uint64_t dropped = 0, first = piece.end, end = piece.first;
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!take_valid(page) && !take_outdated(page)) continue;
    taken.set(page - piece.first);
    if (dropped++ == 0) first = page;
    end = page + 1;
  }
  if (dropped == 0) return;
  // Alone, nothing but taken pages is mapped, so all from the first to the last go at once; else run by run.
  const auto for_each_run = [&](const auto& visit) {
    if (alone) return visit(first, end - first);
    taken.for_each_run(piece.end - piece.first, [&](uint64_t i, uint64_t pages) { visit(piece.first + i, pages); });
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
  if (alone) packer.send();  // nobody fetches before the exchange that follows
  else packer.send_and_fence();
  if (written && full_.load(std::memory_order_relaxed))
    forget_mappings(piece.array, piece.first, piece.end - piece.first);
  for_each_run([&](uint64_t page, uint64_t pages) { tracker.discard(view(page), pages << page_shift, alone); });
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!taken.test(page - piece.first)) continue;
    config_.states->clear_flag(page, PageStates::outdated | PageStates::copied);
    config_.states->release(page, PageState::stale);
  }
  count(piece.array.counters.invalidated, dropped);
}

void Cache::flush(bool alone) {
  flush_lock_.lock();
  config_.arrays->for_each_live([&](Array& array) {
    for_each_piece(array, array.first_page, array.end_page, [&](const Piece& piece) { flush_piece(piece, alone); });
  });
  if (!alone) config_.transport->fence();
  await_outgoing();
  flush_lock_.unlock();
}

void Cache::flush_and_drop(bool alone) {
  flush_lock_.lock();
  config_.arrays->for_each_live([&](Array& array) {
    for_each_piece(array, array.first_page, array.end_page, [&](const Piece& piece) {
      if (!alone || !stays(array)) return drop_piece(piece, alone, true);
      flush_piece(piece, true);
      outdate_piece(piece);
    });
  });
  await_outgoing();
  flush_lock_.unlock();
}

void Cache::flush_and_drop(Array& array, uint64_t page) {
  flush_lock_.lock();
  for_each_piece(array, page, page + 1, [&](const Piece& piece) { drop_piece(piece, false, true); });
  await_outgoing();
  flush_lock_.unlock();
}

void Cache::outdate() {
  config_.arrays->for_each_live([&](Array& array) {
    for_each_piece(array, array.first_page, array.end_page, [this](const Piece& piece) { outdate_piece(piece); });
  });
}

void Cache::outdate_piece(const Piece& piece) {
  for (uint64_t page = piece.first; page < piece.end; ++page) {
    if (!take_valid(page)) continue;
    config_.states->set_flag(page, PageStates::outdated);
    config_.states->release(page, PageState::stale);
    count(piece.array.counters.invalidated, 1);
  }
}

// Takes a busy page that is out of date out of the view, so that accesses fault.
void Cache::hide(Array& array, uint64_t page) {
  array.tracker->freeze(view(page), page_bytes, true);
  array.tracker->discard(view(page), page_bytes, true);
  config_.states->clear_flag(page, PageStates::outdated | PageStates::copied);
}

// What a fetch has no room for.
void Cache::hide_outdated(Array& array, uint64_t first, uint64_t end) {
  for (uint64_t page = first; page < end; ++page) {
    if (!take_outdated(page)) continue;
    hide(array, page);
    config_.states->release(page, PageState::stale);
  }
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

std::vector<PageRun> Cache::here() {
  constexpr uint64_t small_gap = 8;  // cheaper to fetch than another message
  std::vector<PageRun> runs;
  config_.arrays->for_each_live([&](Array& array) {
    for_each_piece(array, array.first_page, array.end_page, [&](const Piece& piece) {
      for (uint64_t page = piece.first; page < piece.end; ++page) {
        if (config_.states->state(page) != PageState::valid) continue;
        if (!runs.empty() && page - (runs.back().first + runs.back().pages) <= small_gap && page > array.first_page)
          runs.back().pages = page + 1 - runs.back().first;
        else runs.push_back({page, 1});
      }
    });
  });
  return runs;
}

void Cache::note(uint64_t page) {
  flush_lock_.lock();
  config_.notices->add(page, 1);
  flush_lock_.unlock();
}

}  // namespace hiroba
