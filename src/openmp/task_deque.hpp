// A thread's tasks that are ready, in shared memory: the thread takes the newest, others the oldest. Between nodes the
// thread keeps the newest to itself, and publishes the oldest, with what it has written, when the others have taken
// all.
//
// Owner: Tasks. push(), pop() are for the thread of the deque; steal() is for all threads of all ranks.
#pragma once

#include <cstdint>

namespace hiroba::openmp {

struct TaskRecord;

// At home on the rank of the thread, and changed there only (words.hpp).
struct DequeWords {
  static constexpr uint32_t most = 512;
  // The numbers of the oldest published task, and of the first one that is not published: 32 bits each.
  alignas(64) int64_t published;
  // Tasks by number modulo `most`; 0: taken.
  alignas(64) int64_t task[most];
};

class Deque {
 public:
  void begin(DequeWords& words) { words_ = &words; }

  uint32_t count() const;
  // Returns false if there is no room.
  bool push(TaskRecord* task);
  // Returns null if there is none.
  TaskRecord* pop();
  static TaskRecord* steal(DequeWords& words);

 private:
  void publish_some();
  TaskRecord* pop_published();
  TaskRecord* take(uint32_t number);

  DequeWords* words_ = nullptr;
  uint32_t end_ = 0;        // the number of the next task
  uint32_t published_ = 0;  // the end of the published ones
  int soon_ = 64;           // option check: tasks that are still to be published at once
};

}  // namespace hiroba::openmp
