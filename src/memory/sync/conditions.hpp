// Part of the contract of this floor: condition variables by number, in the control segment of rank id % nranks. A
// waiting thread gives its lock back and takes it again; with the lock it acquires the others' writes.
//
// Each waiting thread has a number, and a count says up to which number threads have been woken. So threads wake in the
// order in which they began to wait, none without a signal, and a later thread takes no signal from an earlier one.
//
// Owner: Memory. Thread-safe. wait() blocks, driving progress; the others block until the condition's rank has
// answered.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace hiroba {

struct MemoryParts;

class Conditions {
 public:
  explicit Conditions(MemoryParts& parts) : parts_(parts) {}

  // Requires that the calling thread holds the lock alone; all that wait for a condition at a time name the same lock.
  Status wait(int id, int lock, const char* call);
  // Wakes the thread that has waited longest, if any; broadcast() wakes all.
  Status signal(int id, const char* call);
  Status broadcast(int id, const char* call);

 private:
  struct Place {
    int rank;
    uint64_t offset;
  };
  Status locate(int id, const char* call, Place& out) const;
  Status use_lock(const Place& place, int id, int lock, const char* call);
  void wake(const Place& place, bool all);

  MemoryParts& parts_;
};

}  // namespace hiroba
