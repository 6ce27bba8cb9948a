// The names of the tasks that the threads of this rank run, for a thread that samples them (option power).
//
// Owner: Tasks. Functions are for the threads of the crew; names are for any thread.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "task/crew/crew.hpp"

namespace hiroba {

class RunningTasks final : public Observer {
 public:
  // `next` observes everything, too; null if there is no other observer.
  void start(std::span<std::atomic<const char*>> names, Observer* next) {
    names_ = names, next_ = next;
    outer_.resize(names.size());
  }
  void released(const Task& task, const Task& by) override {
    if (next_ != nullptr) next_->released(task, by);
  }
  void began(int worker, const Task& task) override {
    if (next_ != nullptr) next_->began(worker, task);
    outer_[worker].push_back(names_[worker].load(std::memory_order_relaxed));
    const bool named = task.label != nullptr && task.label->name != nullptr;
    names_[worker].store(named                     ? task.label->name
                         : task.kind == Task::move ? "copy"
                                                   : "task",
                         std::memory_order_relaxed);
  }
  void ended(int worker, const Task& task) override {
    names_[worker].store(outer_[worker].back(), std::memory_order_relaxed);
    outer_[worker].pop_back();
    if (next_ != nullptr) next_->ended(worker, task);
  }

 private:
  std::span<std::atomic<const char*>> names_;
  std::vector<std::vector<const char*>> outer_;  // of tasks that wait for the tasks that they have created
  Observer* next_ = nullptr;
};

}  // namespace hiroba
