// Mutual exclusion of tasks with commutative access to the same data: a task runs when it holds the exclusions of all
// its accesses, and waits in a list, not in a thread, while another has one of them.
//
// Owner: Directory. Thread-safe.
#pragma once

#include <utility>

#include "task/crew/ready.hpp"

namespace hiroba {

class Exclusion {
 public:
  // Returns false if the task was put into the list; release() then returns it, and it tries again.
  bool acquire(Task& task) {
    const std::lock_guard guard(lock_);
    if (!std::exchange(taken_, true)) return true;
    task.next = waiting_, waiting_ = &task;
    return false;
  }
  // Returns the tasks that wait, linked by `next`: each tries again.
  Task* release() {
    const std::lock_guard guard(lock_);
    taken_ = false;
    return std::exchange(waiting_, nullptr);
  }

 private:
  SpinLock lock_;
  bool taken_ = false;
  Task* waiting_ = nullptr;
};

}  // namespace hiroba
