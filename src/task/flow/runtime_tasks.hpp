// Tasks of the runtime: they send events to other ranks, wait for events, and move data. They are nodes like the
// program's tasks, with edges to these, and are created while the program's task that needs them is created.
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
  // The next tasks belong to the program's task with this number.
  void next(uint64_t number) { number_ = number; }
  // With `same` all ranks have the same numbers, so events are compared by them.
  void number_events(bool same) { same_numbers_ = same; }

  // Returns a submitted task that ends when that rank's next event has arrived.
  TaskRef expect(int rank, const TaskSection& section);
  // Returns a task that sends that rank an event when it runs, with the section if so told; it then does not end before
  // that is sent. This and the following tasks are not submitted yet.
  Task& signal(int rank, const TaskSection& section, bool with_data = false);
  // Returns a task that ends when the data has arrived in that section. Submit it with one event.
  Task& receiving(int rank, const TaskSection& section);
  // Returns a task that copies the section between its addresses here and at its home.
  Task& copying(int home, const TaskSection& section, bool to_here);

 private:
  Task& make(Task::Kind kind, Task::Body body);
  Task& make_expected(int rank, const TaskSection& section, const TaskSection& to);
  uint32_t what(const TaskSection& section) const;
  void draw(const Task& task, int from, int to, uint64_t number, const TaskSection& section) const;

  const World* world_ = nullptr;
  NamedWrites* writes_ = nullptr;
  Worker* worker_ = nullptr;
  Events* events_ = nullptr;
  Domain domain_;
  uint64_t number_ = 0;
  bool same_numbers_ = true;
};

}  // namespace hiroba
