// The edges to one task that is being created. A task waits for at most Task::most_edges others itself; for more, it
// waits for tasks of the runtime that wait for them.
//
// For the thread that creates the task.
#pragma once

#include "task/crew/crew.hpp"

namespace hiroba {

class Wiring {
 public:
  // `inside`: the task on whose behalf this one is created, if any; this task never waits for it.
  Wiring(Worker& worker, Task& task, const Task* inside = nullptr)
      : worker_(worker), task_(task), inside_(inside), sink_(&task) {}
  Wiring(const Wiring&) = delete;
  Task& task() const { return task_; }
  Worker& worker() const { return worker_; }
  bool draws() const { return worker_.crew().chart() != nullptr; }

  void after(const TaskRef& before) {
    if (Chart* const chart = worker_.crew().chart()) chart->edge(before, task_, inside_);
    if (before.task == &task_ || before.task == inside_ || !before.pending()) return;
    for (size_t i = 0; i < count_; ++i)
      if (known_[i].task == before.task && known_[i].serial == before.serial) return;
    if (Recording* const recording = task_.domain->recording) return recording->links.push_back({before.task, &task_});
    if (sink_->edges + 1 == static_cast<int>(Task::most_edges)) {
      extend();
      if (!before.pending()) return;  // create_join() may have run it and reused its node
    }
    if (connect(*before.task, *sink_) && count_ < most_known) known_[count_++] = {before.task, before.serial};
  }
  // Creates a task in the same domain that only waits.
  Task& create_join() {
    Task& join = worker_.create(*task_.domain, Task::inner);
    join.body = [](void*, int) {};
    return join;
  }
  // Requires that all edges are added; the task is not yet submitted.
  void close() {
    if (sink_ != &task_) worker_.submit(*sink_);
    sink_ = &task_;
  }
  void submit() {
    close();
    worker_.submit(task_);
  }

 private:
  void extend() {
    Task& join = create_join();
    connect(join, *sink_);
    if (sink_ != &task_) worker_.submit(*sink_);
    sink_ = &join;
  }

  static constexpr size_t most_known = 16;
  Worker& worker_;
  Task& task_;
  const Task* inside_;
  Task* sink_;
  size_t count_ = 0;
  struct Known {
    Task* task;
    uint64_t serial;
  };
  Known known_[most_known];  // tasks that it waits for
};

}  // namespace hiroba
