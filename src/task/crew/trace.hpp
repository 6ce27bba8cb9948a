// Option task-trace: writes the tasks that each thread ran, their times, and the task that released each, as a file for
// chrome://tracing and Perfetto.
//
// Owner: Tasks. released(), began() and ended() are for the threads of the crew.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

class Trace final : public Observer {
 public:
  // `events` returns more of them, as text.
  void start(int rank, int threads, std::string file, std::function<std::string()> events);
  bool on() const { return !file_.empty(); }
  void released(const Task& task, const Task& by) override;
  void began(int worker, const Task& task) override;
  void ended(int worker, const Task& task) override;
  const std::string& file() const { return file_; }
  // Returns this rank's part of the file, which the first rank begins and the last one ends.
  std::string text(int nranks) const;

 private:
  // Null if the task could run when it was created, or an event of another rank released it.
  struct Releaser {
    const TaskLabel* label = nullptr;
    uint64_t number = 0;
  };
  struct Event {
    const TaskLabel* label;
    uint64_t number;
    double begin, end;
    Releaser releaser;
    bool moves;
  };
  struct Timeline {
    std::vector<Event> events;
    std::vector<size_t> running;  // the innermost last: tasks run while others wait for their children
  };
  Releaser releaser_of(const Task& task);

  int rank_ = 0;
  std::string file_;
  std::function<std::string()> events_;
  std::vector<Timeline> of_worker_;
  std::mutex mutex_;
  std::unordered_map<const Task*, Releaser> releasers_;  // for tasks that have not begun; guarded by mutex_
};

}  // namespace hiroba
