// The tasks of one worker that can run: it takes what it has released last, for what that has left in its caches, and
// of what it has created the oldest; others steal from the other end.
//
// Thread-safe. Nothing blocks but for the other side's few instructions.
#pragma once

#include <algorithm>
#include <vector>

#include "base/wait.hpp"
#include "task/node.hpp"

namespace hiroba {

// For a few instructions, of threads that do not sleep meanwhile. Its unlock is a plain store, where that of
// SignalSafeLock (base/wait.hpp) is a second locked instruction: a task that runs again costs 20 ns in all.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; taken_.exchange(true, std::memory_order_acquire);)
      while (taken_.load(std::memory_order_relaxed))
        if (++spins % 64 == 0) sched_yield();
        else cpu_relax();
  }
  bool try_lock() {
    return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

class Ready {
 public:
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

  void push_released(Task* task) {
    lock_.lock();
    reserve();
    ring_[(first_ + count_) & mask_] = task;
    store(count_ + 1);
    lock_.unlock();
  }
  void push_created(Task* task) {
    lock_.lock();
    reserve();
    ring_[--first_ & mask_] = task;
    store(count_ + 1);
    lock_.unlock();
  }
  // Null if there is none.
  Task* take() {
    if (empty()) return nullptr;
    lock_.lock();
    Task* task = nullptr;
    if (count_ > 0) task = ring_[(first_ + count_ - 1) & mask_], store(count_ - 1);
    lock_.unlock();
    return task;
  }
  // Half of them, at most `most`; the number.
  size_t steal(Task** out, size_t most) {
    if (empty() || !lock_.try_lock()) return 0;
    const size_t n = std::min((count_ + 1) / 2, most);
    for (size_t i = 0; i < n; ++i) out[i] = ring_[first_++ & mask_];
    store(count_ - n);
    lock_.unlock();
    return n;
  }

 private:
  void store(size_t count) { count_ = count, size_.store(count, std::memory_order_relaxed); }
  void reserve() {
    if (count_ <= mask_) return;
    std::vector<Task*> larger(ring_.size() * 2);
    for (size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) & mask_];
    ring_.swap(larger);
    first_ = 0, mask_ = ring_.size() - 1;
  }

  alignas(64) SpinLock lock_;  // guards what follows
  std::atomic<size_t> size_{0};
  size_t first_ = 0, count_ = 0, mask_ = 1023;
  std::vector<Task*> ring_ = std::vector<Task*>(1024);
};

}  // namespace hiroba
