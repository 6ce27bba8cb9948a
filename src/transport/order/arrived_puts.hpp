// The puts of another rank that have arrived here. They are numbered from 1 on and may overtake each other, above all a
// small one a large one; so a count is not enough, and waits are for all puts up to a number.
//
// add() requires the wire; any thread may call all_up_to().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace hiroba {

class ArrivedPuts {
 public:
  void add(uint64_t number) {
    uint64_t last = all_.load(std::memory_order_relaxed);
    if (number != last + 1) {
      early_.push_back(number);
      std::push_heap(early_.begin(), early_.end(), std::greater<>());
      return;
    }
    for (last = number; !early_.empty() && early_.front() == last + 1; ++last) {
      std::pop_heap(early_.begin(), early_.end(), std::greater<>());
      early_.pop_back();
    }
    all_.store(last, std::memory_order_seq_cst);
  }
  uint64_t all_up_to() const { return all_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<uint64_t> all_{0};
  std::vector<uint64_t> early_;  // a heap, the least in front
};

}  // namespace hiroba
