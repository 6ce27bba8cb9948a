// The page that a thread uses through the program's view although it holds it busy. The kernel may take any page out of
// the view, and leaves a mark of those that were closed, which looks as if they had been written: then the access
// faults, and the thread must not wait for itself. README.md, "Copies that are known to be unwritten".
//
// Owner: Copies. Threads: begin() and end() under the flush lock; is_mine() in any, in the fault handler, too.
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
  // The thread in question reads what it has stored itself. Without a variable of the thread, which a handler might be
  // the first to use.
  bool is_mine(uint64_t page) const {
    const int thread = thread_.load(std::memory_order_relaxed);
    return thread != 0 && page_.load(std::memory_order_relaxed) == page && thread == gettid();
  }

 private:
  std::atomic<uint64_t> page_{0};
  std::atomic<int> thread_{0};
};

// Between begin() and end().
class UsingPage {
 public:
  UsingPage(PageAtWork& at_work, uint64_t page) : at_work_(at_work) { at_work_.begin(page); }
  UsingPage(const UsingPage&) = delete;
  ~UsingPage() { at_work_.end(); }

 private:
  PageAtWork& at_work_;
};

}  // namespace hiroba
