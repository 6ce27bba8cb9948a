// Copies that are known to be unwritten: a write to them faults and opens them again, so flushes pass over them.
// README.md, "Copies that are known to be unwritten".
//
// Owner: Copies. Threads: any thread may call is_closed() and the functions about a whole chunk; the others are for
// pages that the caller holds busy. Allocates nothing after start.
#pragma once

#include <atomic>

#include "memory/array_table.hpp"
#include "memory/cache/page_states.hpp"
#include "memory/space/uffd.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

class ClosedCopies {
 public:
  Status start(char* base, uint64_t pages);

  bool is_closed(uint64_t page) const { return (word(page).load() >> page % 64 & 1) != 0; }
  // Returns whether a flush may pass over all copies in the page's chunk. A flush sets the flag before it looks at the
  // pages; a thread that opens or fetches a page clears it.
  bool all_closed(uint64_t page) const { return chunk_of(page).all_closed.load(); }
  void set_all_closed(uint64_t page, bool all) const {
    chunk_of(page).all_closed.store(all);
    if (!all) group_of(page).store(false);
  }
  // The same flag for a group of chunks. It is set before the chunks are looked at.
  static constexpr uint64_t group_pages = 64 * PageBits::pages;
  bool group_closed(uint64_t page) const { return group_of(page).load(); }
  void set_group_closed(uint64_t page, bool all) const { group_of(page).store(all); }
  // Counts flushes that have found nothing written in the chunk, or restarts the count; true if it pays to close its
  // pages. `at_barrier`: the flush is one of a barrier, which comes more often than a release, and may be followed by
  // fetches of what others have written.
  bool is_quiet(uint64_t page, bool written, bool at_barrier) const;
  // Counts comparisons of a page that have found nothing written, or restarts the count; true if it pays to close it.
  bool is_quiet_page(uint64_t page, bool written) const;
  // Pages of the chunk have been fetched, so they are likely to be fetched after the next barrier, too.
  void fetched(uint64_t page) const;

  // Returns false if it cannot, and waits long before the next try.
  bool close(Array& array, uint64_t page, uint64_t pages) const;
  void open(Array& array, uint64_t page) const;
  // Opens pages of the array for writes by the system, which take no faults.
  void open(Array& array, uint64_t first, uint64_t end, PageStates& states) const;
  void forget(uint64_t page) const;  // the page has left the view
  void forget(const Array& array);   // collective
  void clear(const PageRun& room);   // no array is there any more; collective

 private:
  static constexpr int16_t quiet_releases = 4, quiet_barriers = 16, long_time = -100;
  struct Chunk {
    std::atomic<uint64_t> closed[PageBits::pages / 64];
    std::atomic<bool> all_closed;
    std::atomic<int16_t> quiet;  // flushes without a write; negative after closing did not pay, or failed
    std::atomic<uint16_t> opened;
    uint8_t unchanged[PageBits::pages];  // comparisons in a row, for the thread that flushes
  };
  Chunk& chunk_of(uint64_t page) const { return file_.as<Chunk>()[page / PageBits::pages]; }
  std::atomic<bool>& group_of(uint64_t page) const { return groups_.as<std::atomic<bool>>()[page / group_pages]; }
  std::atomic<uint64_t>& word(uint64_t page) const { return chunk_of(page).closed[page % PageBits::pages / 64]; }
  char* view(uint64_t page) const { return base_ + (page << page_shift); }

  char* base_ = nullptr;
  SparseFile file_, groups_;
};

}  // namespace hiroba
