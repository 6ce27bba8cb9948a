#include "memory/replicas.hpp"

#include "memory/parts.hpp"

namespace hiroba {

void Replicas::open(const void* address, size_t bytes) {
  if (parts_.cache == nullptr || bytes == 0) return;
  const uint64_t end = parts_.page_of(static_cast<const char*>(address) + bytes - 1) + 1;
  for (uint64_t page = parts_.page_of(address); page < end; ++page) {
    if (parts_.states.flag(page, PageStates::replica)) continue;
    Array* const array = parts_.table.live(page);
    if (array == nullptr || parts_.is_here(array->home(page).rank)) continue;
    while (!open_page(*array, page)) {
    }
  }
}

// Returns false if another thread held the page.
bool Replicas::open_page(Array& array, uint64_t page) {
  Cache& cache = *parts_.cache;
  PageStates& states = parts_.states;
  const PageState state = states.state(page);
  if (state == PageState::busy) return cache.fetches.wait_while_busy(page), false;
  if (state == PageState::valid) return cache.writeback.flush_and_drop(array, page), false;
  if (!states.take(page, state)) return false;
  if (states.flag(page, PageStates::in_view)) cache.copies.hide(array, page);
  *cache.copies.bytes_of(page) = 0;  // the file now has the page
  array.tracker->install(cache.copies.view(page), page_bytes);
  states.set_flag(page, PageStates::replica);
  states.release(page, state);
  pages_.push_back(page);
  return true;
}

void Replicas::close() {
  for (const uint64_t page : pages_) {
    Array* const array = parts_.table.live(page);
    if (array == nullptr) continue;
    parts_.cache->copies.hide(*array, page);
    parts_.states.clear_flag(page, PageStates::replica);
  }
  pages_.clear();
}

}  // namespace hiroba
