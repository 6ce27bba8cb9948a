#include "task/flow/runtime_tasks.hpp"

#include <cstring>

#include "section/walk.hpp"
#include "task/flow/mixed.hpp"

namespace hiroba {

namespace {

// The argument of a task that sends an event to another rank.
struct Signal {
  Events* events;
  uint64_t number;
  int rank;
  uint32_t what;
  TaskSection data;  // for run_sending
};
// The argument of a task that copies a section between the memory of its home and that of this rank.
struct Copying {
  TaskSection section;
  char* home;  // the address of the section's first byte at home in this process
  NamedWrites* writes;
  bool to_here;
};

template <typename Argument>
void set_argument(Task& task, const Argument& argument) {
  static_assert(sizeof argument <= Task::argument_bytes && std::is_trivially_copyable_v<Argument>);
  std::memcpy(task.argument, &argument, sizeof argument);
}
template <typename Argument>
Argument argument_of(void* argument) {
  Argument out;
  std::memcpy(static_cast<void*>(&out), argument, sizeof out);
  return out;
}
void run_expected(void* argument, int) { argument_of<Expected>(argument).events->note_order(); }
void run_signal(void* argument, int) {
  const auto signal = argument_of<Signal>(argument);
  signal.events->note_order();
  signal.events->send(signal.rank, signal.number, signal.what);
}
void run_sending(void* argument, int) {
  const auto signal = argument_of<Signal>(argument);
  signal.events->note_order();
  signal.events->send(signal.rank, signal.number, signal.what, signal.data, Task::of(argument));
}
void run_copying(void* argument, int) {
  const auto copying = argument_of<Copying>(argument);
  for_each_block(copying.section, [&](char* block, size_t bytes) {
    char* const there = copying.home + (block - copying.section.address);
    if (copying.to_here) std::memcpy(block, there, bytes);
    else copying.writes->past_view(block, bytes), std::memcpy(there, block, bytes);
  });
}

}  // namespace

Task& RuntimeTasks::make(Task::Kind kind, Task::Body body) {
  Task& task = worker_->create(domain_, kind);
  task.body = body;
  task.number = number_;
  return task;
}

// The ranks compare it to find out if they mean the same section.
uint32_t RuntimeTasks::what(const TaskSection& section) const {
  const auto offset = static_cast<uint64_t>(section.address - world_->base);
  return static_cast<uint32_t>(mixed(offset, same_numbers_ ? number_ : 0) & 0x7fffffff);
}

void RuntimeTasks::draw(const Task& task, int from, int to, uint64_t number, const TaskSection& section) const {
  if (Chart* const chart = worker_->crew().chart()) chart->event(task, from, to, number, section);
}

Task& RuntimeTasks::make_expected(int rank, const TaskSection& section, const TaskSection& to) {
  Task& task = make(Task::inner, run_expected);
  draw(task, rank, world_->rank, events_->number_from(rank), section);
  Expected expected;
  expected.events = events_, expected.to = to, expected.what = what(section);
  set_argument(task, expected);
  return task;
}

TaskRef RuntimeTasks::expect(int rank, const TaskSection& section) {
  Task& task = make_expected(rank, section, TaskSection());
  const TaskRef out(&task);
  worker_->submit(task, events_->expect(rank, task, *worker_) ? 1 : 0);
  return out;
}

Task& RuntimeTasks::signal(int rank, const TaskSection& section, bool with_data) {
  const uint64_t number = events_->number_to(rank, *worker_);
  Task& task = with_data ? make(Task::move, run_sending) : make(Task::inner, run_signal);
  draw(task, world_->rank, rank, number, section);
  set_argument(task, Signal{events_, number, rank, what(section), section});
  return task;
}

Task& RuntimeTasks::receiving(int rank, const TaskSection& section) {
  Task& task = make_expected(rank, section, section);
  (void)events_->expect(rank, task, *worker_);  // has not come: it needs a signal of this rank
  return task;
}

Task& RuntimeTasks::copying(int home, const TaskSection& section, bool to_here) {
  Task& task = make(Task::move, run_copying);
  if (Chart* const chart = worker_->crew().chart()) chart->copy(task, section);
  char* const at_home = world_->reach(home, static_cast<uint64_t>(section.address - world_->base));
  set_argument(task, Copying{section, at_home, writes_, to_here});
  return task;
}

}  // namespace hiroba
