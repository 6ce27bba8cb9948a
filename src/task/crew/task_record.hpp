// Counts tasks by the place of their creation, measures their time, and finds the longest chains of tasks that wait for
// each other (option report). Its events name the task that released one.
//
// Owner: Tasks. Functions are for the threads of the crew; start() and end_phase() for the program's thread, while no
// task runs.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "base/record/record.hpp"
#include "task/access.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

class TaskRecord final : public Observer {
 public:
  // `next` observes everything, too; null if there is no other observer.
  void start(int threads, Observer* next);
  void released(const Task& task, const Task& by) override;
  void began(int worker, const Task& task) override;
  // The time of tasks that ran while this one waited for them is theirs.
  void ended(int worker, const Task& task) override;
  // All tasks so far have ended, and later ones do not wait for them.
  void end_phase();

 private:
  // The time of a chain of tasks, with the places that take most of it, and that of its last task.
  struct Chain {
    double seconds = 0;
    SiteRecord* last = nullptr;
    uint64_t tasks = 0;
    struct Part {
      SiteRecord* site = nullptr;
      double seconds = 0;
    } parts[3];

    void add(SiteRecord* site, double seconds);
  };
  // The chain that ends with a task, by the task's node. A later task may have taken the place; the chain is then
  // shorter than the true one.
  struct Place {
    const Task* task = nullptr;
    uint64_t serial = 0;
    Chain chain;
  };
  static constexpr size_t places = 8192, guards = 64;
  struct Body {
    double begin, inner;
  };
  struct Worker {
    std::vector<Body> bodies;  // the innermost last
    Chain longest;
  };
  static size_t place_of(const Task& task) { return reinterpret_cast<uintptr_t>(&task) / alignof(Task) % places; }
  Chain chain_of(const Task& task);
  void set_chain(const Task& task, const Chain& chain);

  std::vector<Worker> of_worker_;
  std::vector<Place> chains_;
  std::mutex guards_[guards];  // place p is guarded by number p % guards
  Observer* next_ = nullptr;
};

}  // namespace hiroba
