// Tasks of the runtime: those that tell another rank something, wait for what it tells, and move data. They are nodes
// like the program's, with edges to these, and are made while the program's task is created that needs them.
//
// Owner: Flow. For the thread that creates the program's tasks. README.md, "Events", has the protocol.
#pragma once

#include "memory/memory.hpp"
#include "task/flow/events.hpp"
#include "task/flow/wiring.hpp"

namespace hiroba {

class RuntimeTasks {
 public:
  void start(Memory& memory, Worker& worker, Events& events) {
    world_ = &memory.collective().world(), writes_ = &memory.named_writes();
    worker_ = &worker, events_ = &events;
  }
  Domain& domain() { return domain_; }  // of the program's tasks and these
  Worker& worker() const { return *worker_; }
  // Those that follow belong to the program's task with this number.
  void next(uint64_t number) { number_ = number; }
  // Whether ranks have the same numbers, so that events can be compared by them.
  void number_events(bool same) { same_numbers_ = same; }

  // Submitted: ends when that rank's next event has come.
  TaskRef expect(int rank, const TaskSection& section);
  // The others are not submitted yet. One that tells that rank that it has run:
  Task& signal(int rank, const TaskSection& section);
  // Sends the section, which it holds until that has gone.
  Task& sending(int rank, const TaskSection& section);
  // Ends when the data has come, at that place. Submit it with one event.
  Task& receiving(int rank, const TaskSection& section);
  // Copies the section between its addresses here and where its home is.
  Task& copying_here(int home, const TaskSection& section);
  Task& copying_home(int home, const TaskSection& section);

 private:
  Task& make(Task::Kind kind, Task::Body body);
  Task& make_expected(const TaskSection& section, const TaskSection& to);
  uint32_t what(const TaskSection& section) const;
  void draw(const Task& task, int from, int to, uint64_t number, const TaskSection& section) const;
  char* at_home(int home, const TaskSection& section) const;

  const World* world_ = nullptr;
  NamedWrites* writes_ = nullptr;
  Worker* worker_ = nullptr;
  Events* events_ = nullptr;
  Domain domain_;
  uint64_t number_ = 0;
  bool same_numbers_ = true;
};

}  // namespace hiroba
