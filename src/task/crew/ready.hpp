// The tasks of one worker that can run. The worker takes children first, the newest; then the newest task that it has
// released, whose data is in its caches, then the oldest that it has created. Others steal from the other end.
//
// Thread-safe. A caller blocks only for a few instructions of another thread.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/wait.hpp"
#include "task/crew/node.hpp"

namespace hiroba {

// A lock for a few instructions, for threads that do not sleep while they hold it. Its unlock is a plain store; that of
// SignalSafeLock (base/wait.hpp) is a second locked instruction: a task that runs again costs 20 ns in all.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; taken_.exchange(true, std::memory_order_acquire);)
      while (taken_.load(std::memory_order_relaxed))
        if (++spins % 64 == 0) Backoff::yield();
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
  // children_only: tests only the tasks that tasks have created (children), which are taken first.
  bool empty(bool children_only) const {
    return (children_only ? children_count_ : size_).load(std::memory_order_relaxed) == 0;
  }

  void push_released(Task* task) {
    const bool child = task->domain->parent != nullptr;
    const std::lock_guard guard(lock_);
    (child ? children_ : others_).push_last(task);
    note();
  }
  // Requires that the task is no child.
  void push_created(Task* task) {
    const std::lock_guard guard(lock_);
    others_.push_first(task);
    note();
  }
  // Returns null if there is none.
  Task* take(bool children_only) {
    if (empty(children_only)) return nullptr;
    const std::lock_guard guard(lock_);
    Task* task = nullptr;
    if (children_.count > 0) task = children_.pop_last();
    else if (!children_only && others_.count > 0) task = others_.pop_last();
    note();
    return task;
  }
  // Takes half of the tasks, or of the children if there are any, at most `most`, and returns their number.
  size_t steal(Task** out, size_t most, bool children_only) {
    if (empty(children_only) || !lock_.try_lock()) return 0;
    Ring& ring = children_.count > 0 || children_only ? children_ : others_;
    const size_t n = std::min((ring.count + 1) / 2, most);
    for (size_t i = 0; i < n; ++i) out[i] = ring.pop_first();
    note();
    lock_.unlock();
    return n;
  }

 private:
  struct Ring {
    size_t first = 0, count = 0, mask = 1023;
    std::vector<Task*> tasks = std::vector<Task*>(1024);

    void push_last(Task* task) {
      if (count > mask) grow();
      tasks[(first + count++) & mask] = task;
    }
    void push_first(Task* task) {
      if (count > mask) grow();
      tasks[--first & mask] = task, ++count;
    }
    Task* pop_last() { return tasks[(first + --count) & mask]; }
    Task* pop_first() { return --count, tasks[first++ & mask]; }
    void grow() {
      std::vector<Task*> larger(tasks.size() * 2);
      for (size_t i = 0; i < count; ++i) larger[i] = tasks[(first + i) & mask];
      tasks.swap(larger);
      first = 0, mask = tasks.size() - 1;
    }
  };
  void note() {
    children_count_.store(children_.count, std::memory_order_relaxed);
    size_.store(children_.count + others_.count, std::memory_order_relaxed);
  }

  alignas(64) SpinLock lock_;  // guards the members below
  std::atomic<size_t> size_{0}, children_count_{0};
  Ring others_, children_;
};

}  // namespace hiroba
