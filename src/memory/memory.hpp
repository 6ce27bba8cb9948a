// The contract of this floor: one job-wide address space of shared arrays, with release consistency.
//
// A Memory object is one rank's part of the job's memory, and the process owns it. It hands out parts, each with one
// task and a header of its own: arrays, consistency with all ranks and with some, locks, preloads, atomics, and access
// by the system. What they share (address range, page cache, transport) is hidden. Addresses are the same in every
// rank. Within a node arrays are mapped; pages of other nodes are cached and kept consistent as docs/memory-model.md
// says.
//
// Collective calls are made by one thread of each rank, in the same order with the same arguments, while no other
// thread of the rank touches shared memory; they block until all have come. Everything else is thread-safe.
// Errors come back as a status; the caller (src/notation) ends the job with it. A `call` is the name that the program
// knows for what it has called, for messages.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/shown.hpp"
#include "collective/collective.hpp"
#include "memory/arrays.hpp"
#include "memory/atomics.hpp"
#include "memory/check/named_writes.hpp"
#include "memory/heap/heap.hpp"
#include "memory/homes/homes.hpp"
#include "memory/numa/affinity.hpp"
#include "memory/preloads.hpp"
#include "memory/replicas.hpp"
#include "memory/space/system_access.hpp"
#include "memory/sync/conditions.hpp"
#include "memory/sync/consistency.hpp"
#include "memory/sync/group_sync.hpp"
#include "memory/sync/locks.hpp"
#include "transport/transport.hpp"

namespace hiroba {

struct MemoryParts;

class Memory {
 public:
  // Joins the job; from there on messages carry the rank. Before the transport starts, `listen` may set its handlers.
  // Collective.
  static Status start(const Options& options, const char* call,
                      const std::function<Status(Transport&, const Job&)>& listen, std::unique_ptr<Memory>& out);
  Status stop(const char* call);  // collective
  ~Memory();

  [[HIROBA_SHOWN]] const Job& job() const;
  Board& board() const;
  Transport& transport() const;
  [[HIROBA_SHOWN]] Collective& collective() const;
  bool checking() const;  // option check

  Affinity& affinity() const;
  [[HIROBA_SHOWN]] Arrays& arrays() const;
  [[HIROBA_SHOWN]] Consistency& consistency() const;
  GroupSync& group_sync() const;
  Heap& heap() const;
  Homes& homes() const;
  Locks& locks() const;
  Conditions& conditions() const;
  Preloads& preloads() const;
  Atomics& atomics() const;
  SystemAccess& system_access() const;
  Replicas& replicas() const;
  NamedWrites& named_writes() const;

  // Option stats: where the time of this rank goes, in seconds; of the threads of a rank together.
  struct Times {
    bool on = false;
    double began = 0;
    std::atomic<double> locks{0}, faults{0};
  };
  const Times& times() const;
  // Of locks and sync: acquires that had to look, entries about other ranks' writes that they read, and how many of
  // them dropped every copy.
  struct Acquires {
    uint64_t looked = 0, entries = 0, drops = 0;
  };
  Acquires acquires() const;

 private:
  Memory();
  std::unique_ptr<MemoryParts> parts_;
};

// What this machine offers to see accesses, the best first; why_not is empty for what works.
struct TrackingWay {
  const char* name;
  std::string why_not;
};
std::vector<TrackingWay> tracking_ways();

}  // namespace hiroba
