// Part of the contract of this floor: locks by number, the ticket lock of the collective floor in the control segment
// of rank id % nranks. Taking one is an acquire, giving it back a release.
//
// Owner: Memory. Thread-safe; a lock belongs to the thread that has taken it. lock() blocks, driving progress.
#pragma once

#include <atomic>
#include <vector>

#include "base/status.hpp"
#include "collective/collective.hpp"

namespace hiroba {

struct MemoryParts;

class Locks {
 public:
  explicit Locks(MemoryParts& parts);

  Status lock(int id, const char* call);
  Status try_lock(int id, bool& taken, const char* call);
  Status unlock(int id, const char* call);

 private:
  Status check(int id, bool held, const char* call) const;
  TicketLock ticket_lock(int id) const;
  uint64_t at_holder(int id) const;
  void took(int id, uint32_t ticket);

  MemoryParts& parts_;
  std::vector<std::atomic<int>> held_;  // thread that holds each lock here, 0 if none
  std::vector<uint32_t> tickets_;       // of the locks held here
};

}  // namespace hiroba
