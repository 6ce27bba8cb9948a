#include "memory/cache/readahead.hpp"

#include <algorithm>

namespace hiroba {

namespace {

// Random accesses turn as often in some 128 faults, a quarter of the chunk. These have cost more than the long fetch of
// the rest.
constexpr uint8_t many_turns = 85;

}  // namespace

Status Readahead::start() {
  return orders_.create("hiroba-readahead", (config_.layout.pages() / chunk_pages + 1) * sizeof(Order));
}

// Returns whether a page is stale and was used while it was valid.
bool Readahead::was_used(uint64_t page) const {
  return config_.states->state(page) == PageState::stale && !config_.states->flag(page, PageStates::guessed);
}

// Neighbours on trial are guesses until they are accessed.
Readahead::Window Readahead::window(Array& array, uint64_t page, FaultKind kind) {
  const uint64_t most = std::min(config_.readahead_pages, config_.most_at_once());
  if (was_used(page)) {  // the neighbours that were used too are likely to be used again
    uint64_t n = 1;
    while (n < most && page + n < array.end_page && was_used(page + n)) ++n;
    return n > 1 && array.faults->trials.due(page, n - 1) ? Window{n, 1, 1} : Window{n, n, n};
  }
  for (size_t s = 0; s < streams; ++s) {
    uint64_t expected = page;
    const uint64_t last = stream_window_[s].load(std::memory_order_relaxed), size = std::min(most, last * 4);
    if (stream_next_[s].load(std::memory_order_relaxed) != page || size == 0) continue;
    if (!stream_next_[s].compare_exchange_strong(expected, page + size, std::memory_order_relaxed)) continue;
    stream_window_[s].store(size, std::memory_order_relaxed);
    if (kind == FaultKind::load)  // the accesses have passed the last window, so its guess was right
      for (uint64_t p = page - std::min(page, last); p < page; ++p) config_.states->clear_flag(p, PageStates::guessed);
    return {size, 1, size};
  }
  const size_t s = stream_turn_.fetch_add(1, std::memory_order_relaxed) % streams;
  stream_next_[s].store(page + 1, std::memory_order_relaxed);
  stream_window_[s].store(1, std::memory_order_relaxed);
  return {1, 1, 1};
}

bool Readahead::finds_no_order(uint64_t page) const {
  auto& word = orders_.as<std::atomic<Order>>()[page / chunk_pages];
  Order order = word.load(std::memory_order_relaxed);
  const auto latest = static_cast<uint16_t>(page % chunk_pages + 1);
  const auto rising = static_cast<uint8_t>(latest > order.latest);
  const bool turned = order.latest != 0 && rising != order.rising && order.turns <= many_turns;
  order = {latest, rising, static_cast<uint8_t>(order.turns + (turned ? 1 : 0))};
  word.store(order, std::memory_order_relaxed);
  return turned && order.turns == many_turns;
}

// Arrays share no chunks.
void Readahead::forget(const PageRun& pages) {
  const uint64_t first = pages.first / chunk_pages;
  orders_.punch(first * sizeof(Order), ((pages.end() - 1) / chunk_pages + 1 - first) * sizeof(Order));
}

}  // namespace hiroba
