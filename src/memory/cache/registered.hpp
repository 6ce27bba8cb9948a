// The copies that are registered at their homes (README.md, "Home pages"): a flag of each, and their number by the node
// of the home. Without any this rank has no copies of a node's pages.
//
// Owner: Copies. Threads: any, for pages that the caller holds busy; deregister() alone: no other thread fetches.
#pragma once

#include <atomic>
#include <memory>

#include "memory/cache/page_states.hpp"

namespace hiroba {

class Registered {
 public:
  void start(PageStates* states, int nodes) {
    states_ = states;
    count_ = std::make_unique<std::atomic<uint64_t>[]>(static_cast<size_t>(nodes));
  }
  uint64_t count(int node) const { return count_[static_cast<size_t>(node)].load(std::memory_order_relaxed); }

  // Pages of homes on one node, which are being registered there.
  void add(int node, uint64_t first, uint64_t end) const {
    uint64_t more = 0;
    for (uint64_t page = first; page < end; ++page) {
      more += states_->flag(page, PageStates::registered) ? 0 : 1;
      states_->set_flag(page, PageStates::registered);
    }
    count_[static_cast<size_t>(node)].fetch_add(more, std::memory_order_relaxed);
  }
  // The next fetch of each registers it again.
  void remove(int node, uint64_t first, uint64_t end) const {
    uint64_t fewer = 0;
    for (uint64_t page = first; page < end; ++page) {
      fewer += states_->flag(page, PageStates::registered) ? 1 : 0;
      states_->clear_flag(page, PageStates::registered);
    }
    count_[static_cast<size_t>(node)].fetch_sub(fewer, std::memory_order_relaxed);
  }

 private:
  PageStates* states_ = nullptr;
  std::unique_ptr<std::atomic<uint64_t>[]> count_;  // by node
};

}  // namespace hiroba
