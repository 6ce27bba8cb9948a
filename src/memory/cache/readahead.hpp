// Decides which pages a fault fetches beside its own: those that were used with it before, more and more of a sequence,
// and all of a chunk whose pages are accessed in no order.
//
// Owner: Fetches. Threads: any, also in the fault handler; concurrent faults make a decision less good, and nothing
// worse. Allocates nothing after start().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "memory/cache/copies.hpp"
#include "memory/space/fault_kind.hpp"

namespace hiroba {

// Stale neighbours that a fault brings along do not fault, so nothing tells that the program does not use them any
// more. On trial they stay out of the view until they are accessed. A number of neighbours that is larger than what was
// last found in use is tried at once, others ever more rarely: a trial costs some faults, without messages.
class Trials {
 public:
  // Returns whether the neighbours of a page that is fetched again are tried.
  bool due(uint64_t page, uint64_t neighbours) {
    if (page == get(page_)) judge();
    const bool more = neighbours > get(usual_);
    if (!more && get(left_) > 0) return set(left_, get(left_) - 1), false;
    if (get(tried_) > 0 && get(patience_) > 0) {  // the open trial is judged first
      set(patience_, get(patience_) - 1);
      return more;
    }
    set(page_, page), set(tried_, neighbours), set(used_, 0), set(patience_, most_patience);
    return true;
  }
  // Pages on trial that are accessed, or follow one that is, so that they are shown with it.
  void used(uint64_t page, uint64_t pages) {
    if (page - get(page_) <= get(tried_)) used_.fetch_add(pages, std::memory_order_relaxed);
  }

 private:
  using Word = std::atomic<uint64_t>;
  static constexpr uint64_t most_gap = 255, most_patience = 64;
  static uint64_t get(const Word& word) { return word.load(std::memory_order_relaxed); }
  static void set(Word& word, uint64_t value) { word.store(value, std::memory_order_relaxed); }

  void judge() {
    const bool all = get(used_) >= get(tried_);
    set(usual_, all ? std::max(get(usual_), get(tried_)) : get(used_));
    if (all) set(gap_, std::min(2 * get(gap_) + 1, most_gap));
    set(left_, get(gap_)), set(tried_, 0), set(page_, UINT64_MAX);
  }

  Word page_{UINT64_MAX}, tried_{0}, used_{0};  // the open trial: its first page, neighbours, and those in use
  Word patience_{0};                            // faults until the open trial is given up
  Word usual_{0};                               // neighbours that the latest trial has found in use
  Word gap_{0}, left_{0};                       // faults with usual neighbours between two trials, and until the next
};

// A home that had memory for the first page that it was asked about is asked again after twice as many occasions.
class HomeQuestions {
 public:
  bool due() {
    const uint32_t left = left_.load(std::memory_order_relaxed);
    if (left > 0) left_.store(left - 1, std::memory_order_relaxed);
    return left == 0;
  }
  void answered(bool well) {
    gap_.store(well ? 0 : std::min(2 * gap_.load(std::memory_order_relaxed) + 1, most), std::memory_order_relaxed);
    left_.store(gap_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t most = 1023;
  std::atomic<uint32_t> gap_{0}, left_{0};
};

// The faults on the pages of an array tell how it is used.
struct FaultHistory {
  Trials trials;
  HomeQuestions zeros;
};

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
  void forget(const PageRun& pages);  // of one array, or of none

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
