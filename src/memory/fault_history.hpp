// The faults on an array's pages tell how it is used: whether neighbours that a fault brings along are put to the test,
// and whether it pays to ask a home for pages without memory.
//
// Owner: Array. Threads: any, also in the fault handler; concurrent calls make a decision less good, and nothing worse.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

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
class Questions {
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

struct FaultHistory {
  Trials trials;
  Questions zeros;
};

}  // namespace hiroba
