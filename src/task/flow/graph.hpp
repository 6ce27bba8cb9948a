// Tasks that are created once and run many times: it records the tasks of an iteration on this rank, with their edges
// within an iteration and to the next one, and the events from and to other ranks; a task then costs little more than a
// counter update.
//
// Owner: the program, through Tasks. For the program's thread; arrive() is for any. README.md, "Graphs", says why edges
// to the next iteration, two counters for each task, and one number for an event are enough.
#pragma once

#include <memory>
#include <vector>

#include "task/flow/flow.hpp"

namespace hiroba {

class Graph final : public Replay {
 public:
  Graph(Memory& memory, Worker& worker, Events& events, bool parts);
  Graph(const Graph&) = delete;
  void discard();  // before its end

  // The number of calls of flow() to create the tasks of an iteration: one to find its predecessors in all but the
  // first iteration, one for itself, and one for its successors.
  static constexpr int passes = 3;
  void begin_pass(int pass);
  void end_pass(int pass);
  Flow& flow() { return flow_; }
  Domain& domain() { return flow_.domain(); }
  // Returns true if all passes have created the same number of tasks.
  bool is_regular() const { return regular_; }

  // Prepares run(), which runs all tasks `times` times. Other ranks may run theirs from then on.
  void prepare(int64_t times);
  void run();

  void end(Worker& worker, Task& task, Task*& next) override;
  bool arrive(Task& task) override;
  std::vector<Waiting> waiting() const override;

 private:
  // State of one task: the blockers of its even and odd iterations; their full number, within its iteration and from
  // the one before; the begin of its successors.
  struct Node {
    std::atomic<int32_t> blockers[2];
    int32_t within, all;
    uint32_t first;
    int64_t iteration;
  };
  // Flag of a successor, and of a task's number while it is recorded: it is in the next iteration.
  static constexpr uint32_t in_next = uint32_t{1} << 31;
  static constexpr uint32_t in_first_pass = in_next - 1;  // the number of a task

  bool count_down(uint32_t index, int64_t iteration);
  bool are_alike(const std::vector<Task*>& others) const;
  void compile();
  void discard(std::vector<Task*>& tasks);

  Worker& worker_;
  Events& events_;
  Flow flow_;
  bool regular_ = true;
  RecordedEvents recorded_events_, other_events_;  // those of the iteration, and those before and after
  Recording recording_[passes];
  std::vector<Task*>& tasks_ = recording_[1].tasks;
  std::unique_ptr<Node[]> nodes_;
  std::vector<uint32_t> successors_;
  int64_t times_ = 0;
};

}  // namespace hiroba
