// Nodes for the tasks that one thread creates. They return when the tasks have ended, from any thread: a thread
// collects the nodes of other pools, and gives them back many at a time.
//
// Owner: a Worker. take() is for its thread; give_back() for any.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "task/crew/stack.hpp"

namespace hiroba {

class TaskPool {
 public:
  // Returns null if all `limit` nodes are in use.
  Task* take(size_t limit) {
    if (free_ == nullptr && !refill(limit)) return nullptr;
    Task* const task = free_;
    free_ = task->next;
    ++task->serial;
    return task;
  }
  void put(Task& task) { task.next = free_, free_ = &task; }  // by the thread of the pool
  // Gives a list from `first` to `last` back to the pool.
  void give_back(Task& first, Task& last) { returned_.push(first, last); }
  // Visits all nodes, including those of ended tasks, while other threads may change them.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& tasks : blocks_)
      for (size_t i = 0; i < block; ++i) visit(tasks[i]);
  }

 private:
  static constexpr size_t block = 512;
  bool refill(size_t limit) {
    free_ = returned_.take_all();
    if (free_ != nullptr) return true;
    if (blocks_.size() * block >= limit) return false;
    blocks_.push_back(std::make_unique<Task[]>(block));
    for (size_t i = block; i-- > 0;) blocks_.back()[i].pool = this, put(blocks_.back()[i]);
    return true;
  }

  Task* free_ = nullptr;
  std::vector<std::unique_ptr<Task[]>> blocks_;
  alignas(64) TaskStack returned_;
};

}  // namespace hiroba
