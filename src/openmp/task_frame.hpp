// The parts of a task: in the memory of its rank (Frame), and in shared memory (TaskRecord).
//
// Owner: the worker of the thread that has made it. Counts are changed by all threads of the rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "memory/memory.hpp"
#include "openmp/dependences.hpp"
#include "openmp/task_deque.hpp"

namespace hiroba::openmp {

using TaskFunction = void (*)(void*);

struct TaskRecord {
  TaskFunction function;
  void* data;
  Frame* frame;  // in the memory of the rank that has made the task
  int64_t is_final;
  int64_t next;  // in that rank's list of tasks that other ranks have executed
  static constexpr size_t most_inline = 208;
  alignas(16) char place[most_inline];
};
static_assert(sizeof(TaskRecord) == 256);

// Tasks that have not ended. A task is counted three times: as a child, in the taskgroup, and in its root.

// The children of a task. Others may end after it, so the last to leave deletes the count.
class Children {
 public:
  static void add(Children*& children) {
    if (children == nullptr) children = new Children;
    children->count_.fetch_add(1, std::memory_order_relaxed);
  }
  bool ended() const { return count_.load(std::memory_order_acquire) == parent; }
  void end_child() { leave(1); }
  void end_parent() { leave(parent); }

 private:
  static constexpr int64_t parent = int64_t{1} << 32;
  void leave(int64_t who) {
    if (count_.fetch_sub(who, std::memory_order_acq_rel) == who) delete this;
  }
  std::atomic<int64_t> count_ = parent;
};

// All tasks made in the taskgroup, by tasks in it too.
struct TaskGroup {
  std::atomic<int64_t> pending = 0;
  bool reduces;
  TaskGroup* outer;
};

// All that this rank has made for a thread of the region, or for a task that it executes for another rank.
struct TaskRoot {
  std::atomic<int64_t> pending = 1;  // one for the thread, or for the task
  Frame* task = nullptr;             // of another rank
};

struct Frame {
  std::atomic<bool> used = false;
  bool is_pooled = true;
  bool is_final = false;
  bool uses_libgomp = false;        // libgomp has tasks that it has made
  int threads_before = 0;           // the number for regions that the task has changed; 0: it has not
  bool set_threads_before = false;  // Member::set_threads then
  int maker = -1;                   // the rank that has made it, if it is another one
  TaskRecord* record = nullptr;
  TaskRoot* root = nullptr;
  TaskRoot own_root;               // for another rank
  TaskGroup* group = nullptr;      // in which it was made
  TaskGroup* innermost = nullptr;  // in it
  Children* siblings = nullptr;    // it is one of them
  Children* children = nullptr;
  std::unique_ptr<Dependences> made;
  std::shared_ptr<Dependences::Node> node;
};

// For each rank a list of tasks that it has made and other ranks have executed, with all that these have made.
class ReturnedTasks {
 public:
  Status begin(Memory& memory);  // collective
  void give(int maker, TaskRecord* record) const;
  // Takes the whole list of this rank; returns null if it is empty.
  TaskRecord* take() const;
  static TaskRecord* next(const TaskRecord& record);

 private:
  int64_t* first(int rank) const;
  int64_t* first_ = nullptr;
  int rank_ = 0;
};

// A thread of a rank, with the tasks that it has made.
struct Worker {
  static constexpr uint32_t most_frames = 1024;
  explicit Worker(DequeWords& words, TaskRecord* records);
  Frame* new_frame();
  Frame* new_frame(TaskRecord* record, int maker);  // for a task of another rank
  void free_frame(Frame* frame);

  Deque deque;
  Frame member;              // the task that a thread of a team is
  TaskRoot root;             // of that
  Frame* current = nullptr;  // null: a task of libgomp's
  Frame* hot = nullptr;      // has ended just now
  int depth = 0;             // tasks that wait on this thread's stack
  int victim = 0;            // the rank to steal from next
  double elsewhere = 0;      // task_time.hpp
  uint32_t next = 0;
  std::unique_ptr<Frame[]> frames;
  TaskRecord* records;
};

// While it lives, libgomp executes its own tasks in this thread, and has what they make.
class InLibgomp {
 public:
  explicit InLibgomp(Worker* worker) : worker_(worker) {
    if (worker_ != nullptr) before_ = std::exchange(worker_->current, nullptr);
  }
  InLibgomp(const InLibgomp&) = delete;
  ~InLibgomp() {
    if (worker_ != nullptr) worker_->current = before_;
  }

 private:
  Worker* worker_;
  Frame* before_ = nullptr;
};

}  // namespace hiroba::openmp
