// Part of the contract of this floor: locks that are words of coarrays. A lock is 24 zero bytes: the ticket lock of the
// collective floor, and its holder. lock() is an acquire, unlock() a release, of shared arrays, too.
//
// Owner: Coarrays. Thread-safe; a lock belongs to the thread that has taken it. lock() blocks, and makes progress.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "base/wait.hpp"
#include "coarray/section.hpp"
#include "collective/collective.hpp"

namespace hiroba {

struct CoarrayParts;
struct Section;

class CoarrayLocks {
 public:
  explicit CoarrayLocks(CoarrayParts& parts) : parts_(parts) {}

  Status lock(const Section& lock, const Call& call);
  Status try_lock(const Section& lock, bool& taken);
  Status unlock(const Section& lock, const Call& call);
  // Returns an error that names a lock if any thread of this rank holds one.
  Status none_held(const char* call) const;

 private:
  Status locate(const Section& lock, Place& out) const;
  uint64_t holder_of(const Place& lock) const;
  void set_holder(const Place& lock, uint64_t holder) const;
  void took(const Place& lock);

  CoarrayParts& parts_;
  mutable SignalSafeLock held_lock_;
  std::vector<Place> held_;  // held by threads of this rank
};

}  // namespace hiroba
