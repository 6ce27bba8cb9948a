// A lock-free stack of tasks, linked by Task::next: any thread pushes to it, also in handlers of messages, and one
// thread takes all.
#pragma once

#include "task/crew/node.hpp"

namespace hiroba {

class TaskStack {
 public:
  bool empty() const { return top_.load(std::memory_order_relaxed) == nullptr; }
  void push(Task& task) { push(task, task); }
  // Pushes a list from `first` to `last`.
  void push(Task& first, Task& last) {
    Task* top = top_.load(std::memory_order_relaxed);
    do last.next = top;
    while (!top_.compare_exchange_weak(top, &first, std::memory_order_release, std::memory_order_relaxed));
  }
  // Returns the newest first; null if there is none.
  Task* take_all() { return top_.exchange(nullptr, std::memory_order_acquire); }

 private:
  std::atomic<Task*> top_{nullptr};
};

}  // namespace hiroba
