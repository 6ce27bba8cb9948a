// Tasks that are created once and run many times: what an iteration creates on this rank is recorded, with the edges
// within an iteration and to the next one, and the events from and to other ranks; then a task costs little more than
// counting down.
//
// Owner: the program, through Tasks. For the program's thread; arrive() is for any. README.md, "Graphs", says why edges
// to the next iteration are enough, two counters for each task, and one number for an event.
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

  // Between these two the tasks of an iteration are created by flow(). How often: once to know what comes before it in
  // all but the first iteration, once for itself, and once for what comes after it.
  static constexpr int passes = 3;
  void begin_pass(int pass);
  void end_pass(int pass);
  Flow& flow() { return flow_; }
  Domain& domain() { return flow_.domain(); }
  // The passes have created as many tasks.
  bool is_regular() const { return regular_; }

  // run() runs all tasks `times` times. Other ranks may do so from prepare() on.
  void prepare(int64_t times);
  void run();

  void end(Worker& worker, Task& task, Task*& next) override;
  bool arrive(Task& task) override;
  std::vector<Waiting> waiting() const override;

 private:
  // Of one task: the blockers of its even and odd iterations; how many there are, within its iteration and of the one
  // before; where its successors begin.
  struct Node {
    std::atomic<int32_t> blockers[2];
    int32_t within, all;
    uint32_t first;
    int64_t iteration;
  };
  // Of a successor, and of the number of a task while it is recorded: of the next iteration.
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
  RecordedEvents recorded_events_, other_events_;  // of the iteration, and of those before and after
  Recording recording_[passes];
  std::vector<Task*>& tasks_ = recording_[1].tasks;
  std::unique_ptr<Node[]> nodes_;
  std::vector<uint32_t> successors_;
  int64_t times_ = 0;
};

}  // namespace hiroba
