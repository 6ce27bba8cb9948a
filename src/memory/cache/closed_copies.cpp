#include "memory/cache/closed_copies.hpp"

#include "memory/cache/tracker.hpp"

namespace hiroba {

Status ClosedCopies::start(char* base, uint64_t pages) {
  base_ = base;
  HIROBA_TRY(groups_.create("hiroba-closed-groups", pages / group_pages + 1));
  return file_.create("hiroba-closed", pages / PageBits::pages * sizeof(Chunk));
}

// A search for writes takes 13 us per chunk, closing all its pages some 30 us, and a write to a closed page then 5 us.
bool ClosedCopies::is_quiet(uint64_t page, bool written, bool at_barrier) const {
  const int16_t enough = at_barrier ? quiet_barriers : quiet_releases;
  std::atomic<int16_t>& quiet = chunk_of(page).quiet;
  const int16_t now = quiet.load(std::memory_order_relaxed);
  if (!written && now < quiet_barriers) quiet.store(static_cast<int16_t>(now + 1), std::memory_order_relaxed);
  else if (written && now > 0) quiet.store(0, std::memory_order_relaxed);
  return !written && now + 1 >= enough;
}

// A comparison takes 0.26 us, to close a page and to open it again 8. So at most half the time is lost, however often a
// page is written.
bool ClosedCopies::is_quiet_page(uint64_t page, bool written) const {
  constexpr uint8_t enough = 32;
  uint8_t& unchanged = chunk_of(page).unchanged[page % PageBits::pages];
  unchanged = written || unchanged == enough ? 0 : unchanged + 1;
  return unchanged == enough;
}

void ClosedCopies::fetched(uint64_t page) const {
  set_all_closed(page, false);
  std::atomic<int16_t>& quiet = chunk_of(page).quiet;
  if (quiet.load(std::memory_order_relaxed) > quiet_releases) quiet.store(quiet_releases, std::memory_order_relaxed);
}

bool ClosedCopies::close(Array& array, uint64_t page, uint64_t pages) const {
  if (!array.tracker->close(view(page), pages << page_shift)) {
    chunk_of(page).quiet.store(long_time, std::memory_order_relaxed);
    return false;
  }
  for (uint64_t p = page; p < page + pages; ++p) word(p).fetch_or(uint64_t{1} << p % 64);
  return true;
}

void ClosedCopies::open(Array& array, uint64_t page) const {
  constexpr uint16_t many = 16;
  Chunk& chunk = chunk_of(page);
  if (is_closed(page) && chunk.opened.fetch_add(1, std::memory_order_relaxed) + 1 == many) {
    chunk.opened.store(0, std::memory_order_relaxed);
    chunk.quiet.store(long_time, std::memory_order_relaxed);
  }
  forget(page);
  set_all_closed(page, false);
  array.tracker->open(view(page), page_bytes);
}

void ClosedCopies::open(Array& array, uint64_t first, uint64_t end, PageStates& states) const {
  for (uint64_t page = first; page < end; ++page) {
    if (!is_closed(page) || !states.take(page, PageState::valid)) continue;
    open(array, page);
    states.release(page, PageState::valid);
  }
}

void ClosedCopies::forget(uint64_t page) const {
  if (is_closed(page)) word(page).fetch_and(~(uint64_t{1} << page % 64));
}

void ClosedCopies::forget(const Array& array) {
  const uint64_t first = array.first_page / PageBits::pages, last = (array.end_page - 1) / PageBits::pages;
  for (uint64_t page = array.first_page; page < array.end_page; page += group_pages) set_group_closed(page, false);
  set_group_closed(array.end_page - 1, false);
  file_.punch(first * sizeof(Chunk), (last + 1 - first) * sizeof(Chunk));  // arrays do not share chunks
}

void ClosedCopies::clear(const PageRun& room) {
  file_.punch(room.first / PageBits::pages * sizeof(Chunk), room.pages / PageBits::pages * sizeof(Chunk));
}

}  // namespace hiroba
