// Tasks of a team of all ranks. The rank that makes a task keeps what belongs to it (Frame) in its own memory; function
// and data (TaskRecord) lie in shared memory, so that a thread of any rank can execute it. README.md, "Tasks", has the
// steps.
//
// Owner: Regions. Each thread of the team calls it for the task that it executes. What waits executes tasks meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "memory/memory.hpp"
#include "openmp/task_deque.hpp"
#include "openmp/task_frame.hpp"

namespace hiroba::openmp {

class Tasks {
 public:
  struct Words {
    int64_t done[2];  // ranks whose tasks have ended; two words, which take turns as the banks of slots do
  };
  // As GOMP_task has them.
  struct Request {
    TaskFunction function = nullptr;
    void* data = nullptr;
    void (*copy)(void*, void*) = nullptr;  // null: as bytes
    size_t bytes = 0, alignment = 1;
    bool may_be_deferred = false, is_final = false;
    void** depends = nullptr;
    const uint64_t* range = nullptr;  // two words, which the first ones of the copied data become
  };

  // `most`: the largest number of threads of a rank. Collective.
  Status begin(Memory& memory, Words& words, int most);

  // Returns null if libgomp has all tasks of this thread's team.
  Worker* worker() const;
  // Returns true if all ranks may execute the tasks that this thread's task makes; else libgomp has them. The functions
  // of groups, and libgomp_makes(), have no effect if libgomp has this task.
  bool are_shared() const;
  void make(const Request& request);
  // Waits for what this thread's task has made; for those that `depends` names.
  void wait();
  void wait_for(void** depends);
  void begin_group();
  void end_group();
  // libgomp has the tasks that this one makes until the end of its innermost taskgroup.
  void group_reduces() const;
  void libgomp_makes() const;

  // Before the program sets the number of threads, which is the task's own.
  void keep_threads() const;

  // A region runs on `threads` threads of each rank, a number for each, which the caller keeps until it ends.
  void begin_region(std::span<const int> threads);
  // A thread's part of it.
  void begin_member();
  // For all threads of the team, before a barrier and at the end of the region: executes tasks until all have ended.
  void end_all();
  void end_member();
  // Clears the words after a barrier of the ranks that `barriers` others precede.
  void clear(uint64_t barriers);

 private:
  struct Shared {  // of a thread
    DequeWords deque;
    TaskRecord record[Worker::most_frames];
  };
  struct AllShared {
    Shared* first = nullptr;
    int most = 0;  // threads of a rank
    Shared& of(int rank, int thread) const { return first[int64_t{rank} * most + thread]; }
  };

  Frame* current() const;  // null: libgomp's
  void make_now(Worker& worker, const Request& request);
  void execute(Worker& worker, Frame& frame);
  void end(Worker& worker, Frame& frame);
  void release_successors(Worker& worker, const Frame& frame);
  void take_returned(Worker& worker);
  Frame* take(Worker& worker, const Frame* only_of, bool leaves);
  Frame* steal(Worker& worker) const;
  template <typename Done>
  void execute_until(Worker& worker, const char* what, const Frame* waits, const Done& done);

  Memory* memory_ = nullptr;
  int spins_ = 0;  // of a wait
  Words* words_ = nullptr;
  AllShared shared_;
  ReturnedTasks returned_;
  void (*call_)(Worker&, Frame&, TaskFunction, void*) = nullptr;  // with or without libgomp
  std::span<const int> threads_;                                  // of each rank in this region
  uint64_t ranks_ = 0;                                            // that have threads of the region
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex lock_;               // of all dependences, and overflow_
  std::vector<Frame*> overflow_;  // ready, but there was no room in a deque
  std::atomic<int64_t> overflows_ = 0;
  std::atomic<int> members_done_ = 0;  // threads of this rank whose tasks have ended
  std::atomic<uint64_t> ended_ = 0;    // the number of barriers before which all tasks have ended
};

}  // namespace hiroba::openmp
