// A stack of tasks that any thread pushes to, also a handler of messages, and of which one takes all: linked by
// Task::next, without a lock.
#pragma once

#include "task/crew/node.hpp"

namespace hiroba {

class TaskStack {
 public:
  bool empty() const { return top_.load(std::memory_order_relaxed) == nullptr; }
  void push(Task& task) { push(task, task); }
  // A list from `first` to `last`.
  void push(Task& first, Task& last) {
    Task* top = top_.load(std::memory_order_relaxed);
    do last.next = top;
    while (!top_.compare_exchange_weak(top, &first, std::memory_order_release, std::memory_order_relaxed));
  }
  // The latest one first; null if there is none.
  Task* take_all() { return top_.exchange(nullptr, std::memory_order_acquire); }

 private:
  std::atomic<Task*> top_{nullptr};
};

}  // namespace hiroba
