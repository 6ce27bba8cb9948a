// Counts tasks by the place of their creation, and measures their time (option report).
//
// Owner: Tasks. Functions are for the threads of the crew.
#pragma once

#include <vector>

#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "task/access.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

class TaskRecord final : public Observer {
 public:
  // `next` observes everything, too; null if there is no other observer.
  void start(int threads, Observer* next) { next_ = next, of_worker_.resize(static_cast<size_t>(threads)); }
  void released(const Task& task, const Task& by) override {
    if (next_ != nullptr) next_->released(task, by);
  }
  void began(int worker, const Task& task) override {
    if (next_ != nullptr) next_->began(worker, task);
    of_worker_[static_cast<size_t>(worker)].push_back({seconds_now(), 0});
  }
  // The time of tasks that ran while this one waited for them is theirs.
  void ended(int worker, const Task& task) override {
    std::vector<Body>& bodies = of_worker_[static_cast<size_t>(worker)];
    const double all = seconds_now() - bodies.back().begin, own = all - bodies.back().inner;
    bodies.pop_back();
    if (!bodies.empty()) bodies.back().inner += all;
    if (recording() && task.kind != Task::move) {
      const TaskLabel* const label = task.label;
      const bool placed = label != nullptr && label->place != nullptr;
      const char* const name = label != nullptr && label->name != nullptr ? label->name : "task";
      note_time(site_of(SiteKind::task, label, 0, name, placed ? label->place : ""), 0, own);
      run_record->tasks.fetch_add(1, std::memory_order_relaxed);
      run_record->task_nanoseconds.fetch_add(static_cast<uint64_t>(own * 1e9), std::memory_order_relaxed);
    }
    if (next_ != nullptr) next_->ended(worker, task);
  }

 private:
  struct Body {
    double begin, inner;
  };
  std::vector<std::vector<Body>> of_worker_;  // the innermost last
  Observer* next_ = nullptr;
};

}  // namespace hiroba
