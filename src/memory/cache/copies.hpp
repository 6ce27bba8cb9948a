// The copies of other nodes' pages that this rank has: the addresses of their bytes and twins, the set of them, and the
// order of their arrival. README.md has the states of a page.
//
// Owner: Cache. Threads: add() and remove() are collective; any threads may call the rest at once, on pages that the
// caller holds busy where a comment says so. After start only valid_runs() allocates, because fetches and evictions run
// in the fault handler.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/wait.hpp"
#include "memory/array_table.hpp"
#include "memory/cache/closed_copies.hpp"
#include "memory/cache/page_at_work.hpp"
#include "memory/cache/page_states.hpp"
#include "memory/cache/registered.hpp"
#include "memory/cache/tracker.hpp"
#include "memory/notices/notices.hpp"
#include "memory/notices/sharers.hpp"
#include "memory/notices/unchanged_writes.hpp"
#include "transport/transport.hpp"

namespace hiroba {

struct CacheConfig {
  Layout layout;
  Job job;
  char* base = nullptr;  // address of offset 0
  Transport* transport = nullptr;
  ArrayTable* arrays = nullptr;
  Userfaultfd* uffd = nullptr;
  Userfaultfd* view_uffd = nullptr;  // for pages with twins at the first write, if their writes can fault
  Pagemap* pagemap = nullptr;
  NoticeLog* notices = nullptr;
  UnchangedWrites* unchanged = nullptr;
  PageStates* states = nullptr;
  Sharers* sharers = nullptr;
  uint64_t limit_pages = 0;
  uint64_t readahead_pages = 1;
  bool huge = false;
  bool in_place = true;  // copies of preloaded arrays may stay in the view; else each use faults

  // Pages in flight have a second mapping, which the cache does not count, so they must be few compared with its size.
  uint64_t most_at_once() const { return std::max<uint64_t>(1, limit_pages / 32); }
};

constexpr uint64_t chunk_pages = PageBits::pages;

class Copies {
 public:
  // The pages of one home run within one chunk.
  struct Piece {
    Array& array;
    const HomeRun& run;
    uint64_t first, end;
  };

  Status start(const CacheConfig& config);
  const CacheConfig& config() const { return config_; }

  // add() prepares, and remove() clears, the pages of an array with their home on another node.
  Status add(Array& array, bool twin_at_fetch);
  void remove(Array& array, std::span<const PageRun> runs);  // runs are in order

  char* view(uint64_t page) const { return config_.base + (page << page_shift); }
  char* bytes_of(uint64_t page) const { return cache_file_.data() + (page << page_shift); }
  char* twin(const Array& array, uint64_t page) const {
    return (array.tracker->twin_at_fetch() ? twin_file_ : cache_file_).data() + (page << page_shift);
  }
  bool is_here(const HomeRun& run) const { return config_.job.node_of(run.rank) == config_.job.node; }
  // Returns whether copies stay in the view when they are out of date.
  bool stays(const Array& array) const { return config_.in_place && array.preloaded.load(std::memory_order_relaxed); }

  // Visits the pieces of the array, within [first, end), that may hold copies.
  template <typename Visit>
  void for_each_piece(Array& array, uint64_t first, uint64_t end, const Visit& visit) const;
  template <typename Visit>
  void for_each_piece(const Visit& visit) const {
    config_.arrays->for_each_live(
        [&](Array& array) { for_each_piece(array, array.first_page, array.end_page, visit); });
  }
  // Returns the runs of valid pages, in order; they include gaps of a few pages.
  std::vector<PageRun> valid_runs() const;

  // Takes absent and stale pages from `page` up to the first other one; returns their number, and in `absent` how many
  // of them were absent.
  uint64_t claim(Array& array, uint64_t page, uint64_t end, uint64_t& absent);
  // Returns the number of pages in the cache file, or about to be there.
  uint64_t resident() const { return resident_.load(std::memory_order_relaxed); }
  // Counts pages as resident before they are; returns the new number.
  uint64_t reserve(uint64_t pages) { return resident_.fetch_add(pages, std::memory_order_relaxed) + pages; }
  bool full() const { return full_.load(std::memory_order_relaxed); }  // evictions have begun
  void become_full();

  uint64_t queued() const { return order_last_ - order_first_; }
  bool pop_oldest(uint64_t& page);
  void push_newest(uint64_t page);
  // Makes these pages of one chunk, all busy, absent.
  void evicted(Array& array, uint64_t page, uint64_t pages);

  // Releases the memory that mappings other than the view hold for these pages.
  void forget_mappings(const Array& array, uint64_t page, uint64_t pages) const;
  void use_huge_pages(uint64_t page, uint64_t pages);

  ClosedCopies closed;
  Registered registered;
  PageAtWork at_work;

  bool take_stale_in_view(uint64_t page) const;
  // Takes a busy, stale page out of the view, so that accesses fault.
  void hide(Array& array, uint64_t page) const;

 private:
  CacheConfig config_;
  SparseFile cache_file_, twin_file_, order_file_, chunk_file_;
  std::unique_ptr<Tracker> shared_tracker_, private_tracker_;
  std::atomic<uint64_t> resident_{0};
  std::atomic<bool> full_{false};

  SignalSafeLock order_lock_;  // guards the order of arrival: order_[first_, last_) modulo its size
  uint32_t* order_ = nullptr;
  uint64_t order_size_ = 0, order_first_ = 0, order_last_ = 0;

  static constexpr uint16_t chunk_tried = 0x8000;  // in a chunk's count: huge pages were tried
  std::atomic<uint16_t>* chunk_count_ = nullptr;   // resident pages per chunk of 512
};

template <typename Visit>
void Copies::for_each_piece(Array& array, uint64_t first, uint64_t end, const Visit& visit) const {
  first = std::max(first, array.cached_low.load(std::memory_order_relaxed));
  end = std::min(end, array.cached_high.load(std::memory_order_relaxed));
  if (first >= end) return;
  const HomeRun* const last = array.homes.data() + array.homes.size();
  for (const HomeRun* at = &array.home(first); at != last && at->first < end; ++at) {
    const HomeRun& run = *at;
    if (is_here(run)) continue;
    const uint64_t run_end = std::min(run.first + run.pages, end);
    for (uint64_t p = std::max(run.first, first); p < run_end;) {
      const uint64_t chunk = p / chunk_pages;
      const uint64_t piece_end = std::min(run_end, (chunk + 1) * chunk_pages);
      if (chunk_count_[chunk].load(std::memory_order_relaxed) != 0) visit(Piece{array, run, p, piece_end});
      p = piece_end;
    }
  }
}

}  // namespace hiroba
