// A task as the runtime sees it: what it waits for, what waits for it, and the function with its argument. README.md,
// "A task", has the states and the order of memory that they need.
//
// Owner: the TaskPool it comes from; one thread creates tasks from a pool and connects them, any thread completes them.
// Memory of a node stays a node until the process ends, so a stale pointer may be looked at: `serial` tells whether it
// is still the same task.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "task/label.hpp"

namespace hiroba {

class Exclusion;
class ReductionParts;
class TaskPool;
class Worker;
struct Task;

// Runs the tasks of a domain again and again: they stay, and this is their end.
class Replay {
 public:
  virtual ~Replay() = default;
  virtual void end(Worker& worker, Task& task, Task*& next) = 0;
  // An event that the task depends on has arrived. Returns true if the task is now ready. For any thread, also in
  // handlers of messages.
  virtual bool arrive(Task& task) = 0;

  // For messages, of each task that is to run again: how many others it waits for, and one of these; none if it can
  // run, or waits for an event.
  struct Waiting {
    const Task* task;
    int others;
    const Task* one;
  };
  virtual std::vector<Waiting> waiting() const = 0;
};

// Tasks that are not run but kept, with the edges to them.
struct Recording {
  struct Link {
    Task *before, *after;
  };
  std::vector<Task*> tasks;
  std::vector<Link> links;
};

// The tasks that the program, or one task, has created. `ended` reaches `created`; after the parent's body has ended it
// counts from minus that, up to 0.
struct Domain {
  Task* parent = nullptr;
  int64_t created = 0;               // by the thread that creates
  std::atomic<bool> awaited{false};  // a thread waits for the last one
  std::atomic<bool> failed{false};   // bodies that have not begun are not run
  std::atomic<void*> failure{nullptr};
  std::shared_ptr<void> sequence;     // of the tasks that a task has created
  void (*at_end)(Domain&) = nullptr;  // the body of the parent has returned
  Recording* recording = nullptr;
  Replay* replay = nullptr;
  alignas(64) std::atomic<int64_t> ended{0};

  bool all_ended() const { return ended.load(std::memory_order_acquire) == created; }
  void fail(void* what) {
    void* none = nullptr;
    failure.compare_exchange_strong(none, what);
    failed.store(true);
  }
};

// Lies in the successor, and is linked in a list of the predecessor.
struct Edge {
  Edge* next;
};

// What few tasks have.
struct TaskExtra {
  std::unique_ptr<Domain> children;    // the tasks that it has created
  std::vector<Exclusion*> exclusions;  // of its commutative accesses, in the order of their addresses
  size_t held = 0;                     // of them
  struct Part {
    int access;
    std::shared_ptr<ReductionParts> of;
  };
  std::vector<Part> parts;  // of its reductions
};

struct alignas(256) Task {
  // run is 1: runs the task and destroys the argument; 0: only the latter; 2: only the former.
  using Body = void (*)(void* argument, int run);
  enum Kind : uint8_t {
    program,  // a task of the program
    inner,    // of the runtime: short, and runs in the thread that releases it
    move      // of the runtime: copies data
  };
  static constexpr size_t most_edges = 8, argument_bytes = 112;
  static constexpr int32_t being_created = 1 << 30;

  std::atomic<int32_t> blockers{0};  // predecessors that have not ended, and being_created
  Kind kind = program;
  uint8_t edges = 0;  // used of edge[]
  int16_t priority = 0;
  std::atomic<Edge*> successors{closed()};
  uint64_t serial = 0;  // of the task among all that had this node
  Body body = nullptr;
  Task* next = nullptr;  // in the list or queue that has it
  Domain* domain = nullptr;
  TaskPool* pool = nullptr;
  const TaskLabel* label = nullptr;

  Edge edge[most_edges] = {};

  TaskExtra* extra = nullptr;
  // Of the program's task: in the order of creation, the same in every rank; `lone`, if one rank of several runs it.
  static constexpr uint64_t lone = uint64_t{1} << 63;
  uint64_t number = 0;
  alignas(16) unsigned char argument[argument_bytes] = {};

  // What the list of successors is from the end of the task on.
  static Edge* closed() { return reinterpret_cast<Edge*>(uintptr_t{1}); }
  // Once nothing blocks it, any thread may run it.
  bool is_plain() const { return kind == program && extra == nullptr && priority == 0; }
  bool ended() const { return successors.load(std::memory_order_acquire) == closed(); }
  // That has this edge, or this argument.
  static Task& of(void* part) {
    return *reinterpret_cast<Task*>(reinterpret_cast<uintptr_t>(part) & ~(alignof(Task) - 1));
  }
};
static_assert(sizeof(Task) == alignof(Task));

// A task that may have ended, and whose node may be another task's by now. For the thread that creates tasks.
struct TaskRef {
  Task* task = nullptr;
  uint64_t serial = 0;
  TaskRef() = default;
  explicit TaskRef(Task* t) : task(t), serial(t->serial) {}
  bool pending() const { return task != nullptr && task->serial == serial && !task->ended(); }
};

// Makes `after` wait for `before`, unless that has ended. For the thread that created both, while it creates `after`.
inline bool connect(Task& before, Task& after) {
  assert(after.edges < Task::most_edges);
  Edge* first = before.successors.load(std::memory_order_acquire);
  if (first == Task::closed()) return false;
  Edge& edge = after.edge[after.edges];
  do edge.next = first;
  while (!before.successors.compare_exchange_weak(first, &edge, std::memory_order_acq_rel, std::memory_order_acquire) &&
         first != Task::closed());
  if (first == Task::closed()) return false;
  ++after.edges;
  return true;
}

}  // namespace hiroba
