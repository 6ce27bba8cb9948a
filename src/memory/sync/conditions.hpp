// Part of the contract of this floor: condition variables by number, in the control segment of rank id % nranks. Who
// waits gives its lock back and takes it again; what the others have written comes with the lock.
//
// Each waiting thread has a number, and a count says up to which they have been woken. So threads wake in the order in
// which they began to wait, none without a signal, and a thread that comes later takes no signal from one before it.
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

  // The calling thread holds the lock, alone; all that wait for a condition at a time name the same one.
  Status wait(int id, int lock, const char* call);
  // Wakes the thread that has waited longest, if any; or all.
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
