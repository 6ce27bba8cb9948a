// Part of the contract of this floor: locks that are words of coarrays. A lock is 24 zero bytes: the ticket lock of the
// collective floor, and its holder. lock() is an acquire, unlock() a release, of shared arrays, too.
//
// Owner: Coarrays. Thread-safe; a lock belongs to the thread that has taken it. lock() blocks, and makes progress.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "base/wait.hpp"
#include "collective/collective.hpp"
#include "section/walk.hpp"

namespace hiroba {

struct CoarrayParts;
struct CoarraySection;
struct SiteRecord;

class CoarrayLocks {
 public:
  explicit CoarrayLocks(CoarrayParts& parts) : parts_(parts) {}

  Status lock(const CoarraySection& lock, const Call& call);
  Status try_lock(const CoarraySection& lock, const Call& call, bool& taken);
  Status unlock(const CoarraySection& lock, const Call& call);
  // An error that names one if any thread of this rank holds locks.
  Status none_held(const char* call) const;

 private:
  Status locate(const CoarraySection& lock, RemoteAddress& out) const;
  uint64_t holder_of(const RemoteAddress& lock) const;
  void set_holder(const RemoteAddress& lock, uint64_t holder) const;
  struct Held {
    RemoteAddress lock;
    SiteRecord* site;  // for option report; else null
    double since;
  };
  Held noted(const CoarraySection& lock, const RemoteAddress& place, double begin, const char* at) const;
  void took(const Held& taken);

  CoarrayParts& parts_;
  mutable SignalSafeLock held_lock_;
  std::vector<Held> held_;  // by threads of this rank
};

}  // namespace hiroba
