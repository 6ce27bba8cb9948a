// Tasks that are created once and run many times: what an iteration creates is recorded, with the edges within an
// iteration and to the next one; then a task costs little more than counting down.
//
// Owner: the program, through Tasks. For the program's thread, in a job of one rank. README.md, "Graphs", says why
// edges to the next iteration are enough, and two counters for each task.
#pragma once

#include <memory>
#include <vector>

#include "task/directory.hpp"

namespace hiroba {

class Graph final : public Domain {
 public:
  Graph();
  Graph(const Graph&) = delete;
  void discard(Worker& worker);  // before its end

  // How often what an iteration creates is recorded: once to know what comes before it in all but the first iteration,
  // once for itself, and once for what comes after it.
  static constexpr int passes = 3;
  void end_pass(Worker& worker, int pass);
  Directory& directory() { return directory_; }
  // The passes have created as many tasks.
  bool is_regular() const { return regular_; }
  // Runs all tasks `times` times.
  void run(Worker& worker, int64_t times);

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

  static void end_of(Worker& worker, Task& task, Task*& next);
  void end(Worker& worker, Task& task, Task*& next);
  void arrive(Worker& worker, uint32_t index, int64_t iteration, Task*& next);
  void compile();
  static void discard(Worker& worker, std::vector<Task*>& tasks);

  Directory directory_;
  bool regular_ = true;
  std::vector<Task*> first_pass_, tasks_;
  std::unique_ptr<Node[]> nodes_;
  std::vector<uint32_t> successors_;
  int64_t times_ = 0;
};

}  // namespace hiroba
