// The page that a thread accesses through the program's view while it holds the page busy. The kernel may take any page
// out of the view, and leaves a mark for a closed one, which makes it look written: then the access faults, and the
// thread must not wait for itself. README.md, "Copies that are known to be unwritten".
//
// Owner: Copies. Threads: begin() and end() under the flush lock; any thread may call is_mine(), also in the fault
// handler.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "base/thread.hpp"

namespace hiroba {

class PageAtWork {
 public:
  void begin(uint64_t page) {
    page_.store(page, std::memory_order_relaxed);
    thread_.store(this_thread(), std::memory_order_relaxed);
  }
  void end() { thread_.store(0, std::memory_order_relaxed); }
  // The thread that called begin() reads its own stores. gettid() replaces a thread-local variable, which a handler
  // might be the first to use.
  bool is_mine(uint64_t page) const {
    const int thread = thread_.load(std::memory_order_relaxed);
    return thread != 0 && page_.load(std::memory_order_relaxed) == page && thread == gettid();
  }

 private:
  std::atomic<uint64_t> page_{0};
  std::atomic<int> thread_{0};
};

// Calls begin(), and end() at the end of its life.
class UsingPage {
 public:
  UsingPage(PageAtWork& at_work, uint64_t page) : at_work_(at_work) { at_work_.begin(page); }
  UsingPage(const UsingPage&) = delete;
  ~UsingPage() { at_work_.end(); }

 private:
  PageAtWork& at_work_;
};

}  // namespace hiroba
