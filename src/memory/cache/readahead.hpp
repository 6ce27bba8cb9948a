// Decides which pages a fault fetches beside its own: those that were used with it before, more and more of a sequence,
// and all of a chunk whose pages are accessed in no order.
//
// Owner: Fetches. Threads: any, also in the fault handler; concurrent faults make a decision less good, and nothing
// worse. Allocates nothing after start().
#pragma once

#include <atomic>

#include "memory/cache/copies.hpp"
#include "memory/space/fault_kind.hpp"

namespace hiroba {

class Readahead {
 public:
  explicit Readahead(const CacheConfig& config) : config_(config) {}
  Status start();

  // Pages to fetch from the one that faulted on: the first `sure` ones are no guesses, and the first `shown` become
  // visible at once.
  struct Window {
    uint64_t pages, sure, shown;
  };
  Window window(Array& array, uint64_t page, FaultKind kind);
  // Counts a fault on a page that was not there, and that no window had; returns true once for a chunk whose pages are
  // accessed in no order.
  bool finds_no_order(uint64_t page) const;
  void forget(const Array& array);

 private:
  // The lone faults of a chunk: the latest page, and how often the direction from one to the next has changed.
  struct Order {
    uint16_t latest;  // page within the chunk, plus 1
    uint8_t rising, turns;
  };
  bool was_used(uint64_t page) const;

  const CacheConfig& config_;
  SparseFile orders_;                    // an Order per chunk
  static constexpr size_t streams = 16;  // sequences of faults on consecutive pages
  std::atomic<uint64_t> stream_next_[streams] = {}, stream_window_[streams] = {};
  std::atomic<uint32_t> stream_turn_{0};
};

}  // namespace hiroba
