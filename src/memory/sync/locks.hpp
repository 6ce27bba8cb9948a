// Part of the contract of this floor: locks by number, the ticket lock of the collective floor in the control segment
// of rank id % nranks. Taking a lock is an acquire, giving it back a release: beside the lock lies the vector of what
// its last holder had written or seen (intervals.hpp). One thread holds a lock, or several share it; both in the order
// of requests.
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
struct SiteRecord;

class Locks {
 public:
  explicit Locks(MemoryParts& parts);

  Status lock(int id, const char* call);
  Status try_lock(int id, bool& taken, const char* call);
  Status unlock(int id, const char* call);

  Status lock_shared(int id, const char* call);
  Status try_lock_shared(int id, bool& taken, const char* call);
  Status unlock_shared(int id, const char* call);

  // Fails with their numbers if any thread of this rank holds locks, alone or shared.
  Status none_held(const char* call) const;

  static Status check_id(int id, const char* call);
  // Returns whether the calling thread holds the lock alone.
  bool holds(int id) const;

  // A number can be done once in a job: the first thread to begin does it, and then ends it; others wait for that, and
  // acquire its writes.
  Status begin_once(int id, bool& first, const char* call);
  Status end_once(int id);

 private:
  // The data beside a lock: the last to change the vector, as a rank plus one or `several`; the number of sharers; and
  // the vector.
  struct Beside;
  static constexpr uint32_t several = UINT32_MAX;
  // For the record of a rank: the place and the time at which it has taken a lock.
  struct Taken {
    SiteRecord* site = nullptr;
    double at = 0;
  };
  struct Hold {
    std::atomic<int> thread{0};  // the thread that holds the lock here; 0: none
    uint32_t ticket = 0;
    Taken taken;
    std::atomic<uint64_t> version{0};  // of this rank's vector, known to be beside the lock
  };
  struct Share {
    int id, thread;
    uint32_t ticket;
    Taken taken;
  };

  Status check(int id, bool held, const char* call) const;
  Status check_not_shared(int id, const char* call) const;
  TicketLock ticket_lock(int index) const;
  std::string who_holds(int index, int id, const char* call) const;
  Status take(int index, int id, const char* call, Beside& beside);
  // Count the time since `start`, and since the lock was taken.
  Taken waited(int id, double start, const char* call);
  static void held(Taken taken);
  void took(int index, uint32_t ticket, const Beside& beside, Taken taken);
  void give(int index);
  void took_shared(int id, uint32_t ticket, Taken taken);
  void publish_shared(int id);
  void show_held(int id, bool held) const;
  void count_step() const;

  MemoryParts& parts_;
  std::vector<Hold> holds_;  // of locks, and of once numbers
  std::vector<std::atomic<bool>> done_;
  mutable std::mutex shares_lock_;
  std::vector<Share> shares_;  // of threads of this rank
};

}  // namespace hiroba
