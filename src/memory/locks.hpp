// Part of the contract of this floor: locks by number, the ticket lock of the collective floor in the control segment
// of rank id % nranks. Taking one is an acquire, giving it back a release: beside the lock lies what its last holder
// had written or seen (intervals.hpp).
//
// Owner: Memory. Thread-safe; a lock belongs to the thread that has taken it. lock() blocks, driving progress.
#pragma once

#include <array>
#include <atomic>
#include <span>
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
  struct Hold {
    std::atomic<int> thread{0};  // that holds the lock here, 0 if none
    uint32_t ticket = 0;
    uint64_t version = 0;  // of the vector beside the lock, if this rank has written it
  };
  static constexpr size_t few_nodes = 64;

  Status check(int id, bool held, const char* call) const;
  TicketLock ticket_lock(int id) const;
  void took(int id, uint32_t ticket);
  void publish(int id, Hold& hold);
  std::span<uint64_t> words_for(std::array<uint64_t, few_nodes>& room, std::vector<uint64_t>& more) const;

  MemoryParts& parts_;
  std::vector<Hold> holds_;
};

}  // namespace hiroba
