// Part of the contract of this floor: locks by number, the ticket lock of the collective floor in the control segment
// of rank id % nranks. Taking one is an acquire, giving it back a release: beside the lock lies what its last holder
// had written or seen (intervals.hpp). One thread holds a lock, or several share it; both in the order of requests.
//
// Owner: Memory. Thread-safe; a lock belongs to the thread that has taken it. lock(), lock_shared() and begin_once()
// block, driving progress.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <string>
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

  Status lock_shared(int id, const char* call);
  Status try_lock_shared(int id, bool& taken, const char* call);
  Status unlock_shared(int id, const char* call);

  // An error that names them if any thread of this rank holds locks, alone or shared.
  Status none_held(const char* call) const;

  static Status check_id(int id, const char* call);
  // Whether the calling thread holds it alone.
  bool holds(int id) const;

  // What is done once in a job: the first to begin does it, and then ends it; others wait for that, and see what it
  // has written.
  Status begin_once(int id, bool& first, const char* call);
  Status end_once(int id);

 private:
  // What lies beside a lock: who has changed the vector last, one more than a rank, or `several`; how many share the
  // lock; and the vector.
  struct Beside;
  static constexpr uint32_t several = UINT32_MAX;
  struct Hold {
    std::atomic<int> thread{0};  // that holds the lock here, 0 if none
    uint32_t ticket = 0;
    std::atomic<uint64_t> version{0};  // of this rank's vector that the lock's is known to contain
  };
  struct Share {
    int id, thread;
    uint32_t ticket;
  };

  Status check(int id, bool held, const char* call) const;
  Status check_not_shared(int id, const char* call) const;
  TicketLock ticket_lock(int index) const;
  std::string who_holds(int index, int id, const char* call) const;
  Status take(int index, int id, const char* call, Beside& beside);
  void took(int index, uint32_t ticket, const Beside& beside);
  void give(int index);
  void took_shared(int id, uint32_t ticket);
  void publish_shared(int id);
  void show_held(int id, bool held) const;

  MemoryParts& parts_;
  std::vector<Hold> holds_;  // of locks, and of what is done once
  std::vector<std::atomic<bool>> done_;
  mutable std::mutex shares_lock_;
  std::vector<Share> shares_;  // of threads of this rank
};

}  // namespace hiroba
