#include "memory/cache/copies.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <functional>

#include "base/addresses.hpp"
#include "memory/cache/readahead.hpp"

namespace hiroba {

Status Copies::start(const CacheConfig& config) {
  config_ = config;
  HIROBA_TRY(cache_file_.create("hiroba-cache", config.layout.space));
  HIROBA_TRY(twin_file_.create("hiroba-twins", config.layout.space));
  registered.start(config.states, config.job.nnodes);
  order_size_ = config.limit_pages + config.limit_pages / 4 + 4 * chunk_pages;
  HIROBA_TRY(order_file_.create("hiroba-order", order_size_ * sizeof(uint32_t)));
  HIROBA_TRY(chunk_file_.create("hiroba-chunks", config.layout.pages() / chunk_pages * sizeof(uint16_t)));
  order_ = order_file_.as<uint32_t>();
  chunk_count_ = chunk_file_.as<std::atomic<uint16_t>>();
  HIROBA_TRY(closed.start(config.base, config.layout.pages()));
  Userfaultfd& of_views = config.view_uffd != nullptr && config.view_uffd->is_open() ? *config.view_uffd : *config.uffd;
  shared_tracker_ = make_shared_tracker({config.base, config.layout.space, cache_file_, *config.uffd, *config.pagemap});
  private_tracker_ = make_private_tracker({config.base, config.layout.space, cache_file_, of_views, *config.pagemap});
  HIROBA_TRY(shared_tracker_->start());
  return private_tracker_->start();
}

Status Copies::add(Array& array, bool twin_at_fetch) {
  array.tracker = twin_at_fetch ? shared_tracker_.get() : private_tracker_.get();
  if (array.faults == nullptr) array.faults = std::make_shared<FaultHistory>();
  Status status;
  const auto elsewhere = [this](int rank) { return config_.job.node_of(rank) != config_.job.node; };
  array.for_each_run_of(elsewhere, [&](uint64_t first, uint64_t pages) {
    if (status.ok()) status = array.tracker->map(view(first), pages << page_shift, first << page_shift);
  });
  return status;
}

void Copies::remove(Array& array, std::span<const PageRun> runs) {
  uint64_t gone = 0;
  for (const PageRun& run : runs) {
    for_each_piece(array, run.first, run.first + run.pages, [&](const Piece& piece) {
      uint16_t of_piece = 0;
      for (uint64_t p = piece.first; p < piece.end; ++p) {
        if (!config_.states->take(p, PageState::valid) && !config_.states->take(p, PageState::stale)) continue;
        closed.forget(p);
        config_.states->release(p, PageState::absent);
        ++of_piece;
      }
      registered.remove(config_.job.node_of(piece.run.rank), piece.first, piece.end);
      chunk_count_[piece.first / chunk_pages].fetch_sub(of_piece, std::memory_order_relaxed);
      gone += of_piece;
    });
    cache_file_.punch(run.first << page_shift, run.pages << page_shift);
    twin_file_.punch(run.first << page_shift, run.pages << page_shift);
  }
  if (runs.size() == 1 && runs[0].pages == array.end_page - array.first_page) {
    const uint64_t chunk = array.first_page / chunk_pages;  // arrays do not share chunks
    chunk_file_.punch(chunk * sizeof(uint16_t), ((array.end_page - 1) / chunk_pages + 1 - chunk) * sizeof(uint16_t));
    closed.forget(array);
  }
  resident_ -= gone;
  array.counters.cached -= gone;
  if (gone == 0) return;
  const auto is_removed = [runs](uint64_t page) {
    const auto after =
        std::upper_bound(runs.begin(), runs.end(), page, [](uint64_t p, const PageRun& run) { return p < run.first; });
    return after != runs.begin() && page < std::prev(after)->first + std::prev(after)->pages;
  };
  uint64_t kept = order_first_;
  for (uint64_t i = order_first_; i < order_last_; ++i) {
    const uint32_t page = order_[i % order_size_];
    if (!is_removed(page)) order_[kept++ % order_size_] = page;
  }
  order_last_ = kept;
}

std::vector<PageRun> Copies::valid_runs() const {
  constexpr uint64_t small_gap = 8;  // less costly to fetch than another message
  std::vector<PageRun> runs;
  for_each_piece([&](const Piece& piece) {
    for (uint64_t page = piece.first; page < piece.end; ++page) {
      if (config_.states->state(page) != PageState::valid) continue;
      const bool near = !runs.empty() && page - (runs.back().first + runs.back().pages) <= small_gap;
      if (near && page > piece.array.first_page) runs.back().pages = page + 1 - runs.back().first;
      else runs.push_back({page, 1});
    }
  });
  return runs;
}

// ---- which there are, and in which order they came -----------------------------------------------------------------

uint64_t Copies::claim(Array& array, uint64_t page, uint64_t end, uint64_t& absent) {
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
    push_newest(p);
  }
  extend(array.cached_high, p, std::greater<>());
  return p - page;
}

void Copies::become_full() {
  if (full_.exchange(true, std::memory_order_relaxed)) return;
  config_.arrays->for_each_live([this](Array& array) {
    if (array.tracker != nullptr) forget_mappings(array, array.first_page, array.end_page - array.first_page);
  });
}

void Copies::push_newest(uint64_t page) {
  order_lock_.lock();
  order_[order_last_++ % order_size_] = static_cast<uint32_t>(page);
  order_lock_.unlock();
}

bool Copies::pop_oldest(uint64_t& page) {
  order_lock_.lock();
  const bool any = order_first_ < order_last_;
  page = any ? order_[order_first_++ % order_size_] : 0;
  order_lock_.unlock();
  return any;
}

void Copies::evicted(Array& array, uint64_t page, uint64_t pages) {
  forget_mappings(array, page, pages);  // sending home has mapped them, too
  cache_file_.punch(page << page_shift, pages << page_shift);
  if (array.tracker->twin_at_fetch()) twin_file_.punch(page << page_shift, pages << page_shift);
  for (uint64_t p = page; p < page + pages; ++p) {
    closed.forget(p);
    config_.states->clear_flag(p, PageStates::copied | PageStates::active);
    if (config_.states->flag(p, PageStates::registered))
      registered.remove(config_.job.node_of(array.home(p).rank), p, p + 1);
    config_.states->release(p, PageState::absent);
  }
  chunk_count_[page / chunk_pages].fetch_sub(static_cast<uint16_t>(pages), std::memory_order_relaxed);
  chunk_count_[page / chunk_pages].fetch_and(static_cast<uint16_t>(~chunk_tried), std::memory_order_relaxed);
  resident_.fetch_sub(pages, std::memory_order_relaxed);
  count(array.counters.evicted, pages);
  array.counters.cached.fetch_sub(pages, std::memory_order_relaxed);
}

// ---- where they are ------------------------------------------------------------------------------------------------

// Releases the memory that mappings other than the view hold for these pages, here and in the transport, so that this
// process holds no more than the cache: for pages that are fetched for the first time, and for all pages of a full
// cache. Pages that are fetched again and again keep these mappings, which is faster.
void Copies::forget_mappings(const Array& array, uint64_t page, uint64_t pages) const {
  const uint64_t offset = page << page_shift, bytes = pages << page_shift;
  config_.transport->one_sided().release_mapping(offset, bytes);
  madvise(cache_file_.data() + offset, bytes, MADV_DONTNEED);
  if (array.tracker->twin_at_fetch()) madvise(twin_file_.data() + offset, bytes, MADV_DONTNEED);
}

// Collapses chunks that are fetched a second time as a whole.
void Copies::use_huge_pages(uint64_t page, uint64_t pages) {
  for (uint64_t p = (page + chunk_pages - 1) / chunk_pages * chunk_pages; p + chunk_pages <= page + pages;
       p += chunk_pages)
    if ((chunk_count_[p / chunk_pages].fetch_or(chunk_tried, std::memory_order_relaxed) & chunk_tried) == 0)
      collapse(cache_file_.data() + (p << page_shift), huge_page_bytes);
}

bool Copies::take_stale_in_view(uint64_t page) const {
  return config_.states->flag(page, PageStates::in_view) && config_.states->take(page, PageState::stale);
}

void Copies::hide(Array& array, uint64_t page) const {
  array.tracker->freeze(view(page), page_bytes, true);
  array.tracker->discard(view(page), page_bytes, true);
  closed.forget(page);
  config_.states->clear_flag(page, PageStates::in_view | PageStates::copied | PageStates::active);
}

}  // namespace hiroba
