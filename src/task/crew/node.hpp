// A task as the runtime sees it: its predecessors and successors, and the function with its argument. README.md, "A
// task", has the states and the memory order that they need.
//
// Owner: its TaskPool; one thread creates tasks from a pool and connects them, any thread completes them. The memory of
// a node stays a node until the process ends, so a stale pointer may be read: `serial` tells if it is still the same
// task.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "task/access.hpp"

namespace hiroba {

class Exclusion;
class ReductionParts;
class TaskPool;
class Worker;
struct Task;

// Handles the end of tasks that run repeatedly and whose nodes are kept.
class Replay {
 public:
  virtual ~Replay() = default;
  virtual void end(Worker& worker, Task& task, Task*& next) = 0;
  // An event that the task depends on has arrived. Returns true if the task is now ready. For any thread, also in
  // handlers of messages.
  virtual bool arrive(Task& task) = 0;

  // For messages: the number of tasks that a task which is to run again waits for, and one of these; null if it can
  // run, or waits for an event.
  struct Waiting {
    const Task* task;
    int others;
    const Task* one;
  };
  virtual std::vector<Waiting> waiting() const = 0;
};

// Collects tasks that are kept and not run, with their edges.
struct Recording {
  struct Link {
    Task *before, *after;
  };
  std::vector<Task*> tasks;
  std::vector<Link> links;
};

// The tasks that the program, or one task, has created. `ended` reaches `created`; after the parent's body has ended it
// counts from the negative of that up to 0.
struct Domain {
  Task* parent = nullptr;
  int64_t created = 0;               // written by the thread that creates
  std::atomic<bool> awaited{false};  // a thread waits for the last one
  std::atomic<bool> failed{false};   // bodies that have not begun are skipped
  std::atomic<void*> failure{nullptr};
  std::shared_ptr<void> sequence;     // the state of the tasks that a task has created
  void (*at_end)(Domain&) = nullptr;  // called when the parent's body has returned
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

// An edge is part of the successor, and is linked into a list of the predecessor.
struct Edge {
  Edge* next;
};

// The members that few tasks need.
struct TaskExtra {
  std::unique_ptr<Domain> children;    // the tasks that it has created
  std::vector<Exclusion*> exclusions;  // for its commutative accesses, in the order of their addresses
  size_t held = 0;                     // the number of exclusions that it holds
  struct Part {
    int access;
    std::shared_ptr<ReductionParts> of;
  };
  std::vector<Part> parts;  // for its reductions
};

struct alignas(256) Task {
  // run is 1: runs the task and destroys the argument; 0: only destroys it; 2: only runs the task.
  using Body = void (*)(void* argument, int run);
  enum Kind : uint8_t {
    program,  // a task of the program
    inner,    // of the runtime: short, runs in the thread that releases it
    move      // of the runtime: copies data
  };
  static constexpr size_t most_edges = 8, argument_bytes = 112;
  static constexpr int32_t being_created = 1 << 30;

  std::atomic<int32_t> blockers{0};  // predecessors that have not ended, and being_created
  Kind kind = program;
  uint8_t edges = 0;  // used elements of edge[]
  int16_t priority = 0;
  std::atomic<Edge*> successors{closed()};
  uint64_t serial = 0;  // the number of this task among all that used this node
  Body body = nullptr;
  Task* next = nullptr;  // in the list or queue that contains it
  Domain* domain = nullptr;
  TaskPool* pool = nullptr;
  const TaskLabel* label = nullptr;

  Edge edge[most_edges] = {};

  TaskExtra* extra = nullptr;
  // For the program's task: its position in the order of creation, the same in all ranks; `lone` if only one of several
  // ranks runs it.
  static constexpr uint64_t lone = uint64_t{1} << 63;
  uint64_t number = 0;
  alignas(16) unsigned char argument[argument_bytes] = {};

  // The value of the list of successors after the end of the task.
  static Edge* closed() { return reinterpret_cast<Edge*>(uintptr_t{1}); }
  // Returns true if any thread may run it once nothing blocks it.
  bool is_plain() const { return kind == program && extra == nullptr && priority == 0; }
  bool ended() const { return successors.load(std::memory_order_acquire) == closed(); }
  // Returns the task that contains this edge or argument.
  static Task& of(void* part) {
    return *reinterpret_cast<Task*>(reinterpret_cast<uintptr_t>(part) & ~(alignof(Task) - 1));
  }
};
static_assert(sizeof(Task) == alignof(Task));

// A task that may have ended, and whose node may have been reused. For the thread that creates tasks.
struct TaskRef {
  Task* task = nullptr;
  uint64_t serial = 0;
  TaskRef() = default;
  explicit TaskRef(Task* t) : task(t), serial(t->serial) {}
  bool pending() const { return task != nullptr && task->serial == serial && !task->ended(); }
};

// Makes `after` wait for `before`, unless `before` has ended. For the thread that created both, while it creates
// `after`.
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
