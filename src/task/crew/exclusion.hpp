// Mutual exclusion of tasks with commutative access to the same data: a task runs when it holds the exclusions of all
// its accesses, and waits in a list, not in a thread, while another has one of them.
//
// Owner: Directory. Thread-safe.
#pragma once

#include "task/crew/ready.hpp"

namespace hiroba {

class Exclusion {
 public:
  // Returns false if the task was put into the list; release() then returns it, and it tries again.
  bool acquire(Task& task) {
    lock_.lock();
    const bool free = !taken_;
    if (free) taken_ = true;
    else task.next = waiting_, waiting_ = &task;
    lock_.unlock();
    return free;
  }
  // Returns the tasks that wait, linked by `next`: each tries again.
  Task* release() {
    lock_.lock();
    taken_ = false;
    Task* const waiting = waiting_;
    waiting_ = nullptr;
    lock_.unlock();
    return waiting;
  }

 private:
  SpinLock lock_;
  bool taken_ = false;
  Task* waiting_ = nullptr;
};

}  // namespace hiroba
