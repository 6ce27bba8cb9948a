// The contract of this floor: one job-wide address space of shared arrays, with release consistency.
//
// A Memory object is one rank's part of the job's memory, and the process owns it. It returns parts, each with one task
// and a header of its own: arrays, consistency with all ranks and with some, locks, preloads, atomics, and access by
// the system. It hides what they share (address range, page cache, transport). Addresses are the same in every rank.
// Within a node arrays are mapped; pages of other nodes are cached and kept consistent as docs/memory-model.md says.
//
// One thread of each rank makes the collective calls, in the same order with the same arguments, while no other thread
// of the rank touches shared memory; they block until all ranks have arrived. Everything else is thread-safe. Errors
// are returned as a status; the caller (src/notation) ends the job with it. A `call` is the name of the called function
// in the program, for messages.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/shown.hpp"
#include "base/wait.hpp"
#include "collective/collective.hpp"
#include "memory/arrays.hpp"
#include "memory/atomics.hpp"
#include "memory/check/named_writes.hpp"
#include "memory/check/race_report.hpp"
#include "memory/heap/heap.hpp"
#include "memory/heap/rank_memory.hpp"
#include "memory/homes/homes.hpp"
#include "memory/numa/affinity.hpp"
#include "memory/page_runs.hpp"
#include "memory/past_cache.hpp"
#include "memory/preloads.hpp"
#include "memory/record/run_report.hpp"
#include "memory/replicas.hpp"
#include "memory/space/program.hpp"
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
  // Joins the job; from then on messages contain the rank. `listen` may set handlers before the transport starts.
  // Collective.
  static Status start(const Options& options, const char* call,
                      const std::function<Status(Transport&, const Job&)>& listen, std::unique_ptr<Memory>& out);
  Status stop(const char* call);  // collective
  ~Memory();

  [[HIROBA_SHOWN]] const Job& job() const;
  Transport& transport() const;
  [[HIROBA_SHOWN]] Collective& collective() const;
  [[HIROBA_SHOWN]] bool checking() const;  // option check

  [[HIROBA_SHOWN]] Affinity& affinity() const;
  [[HIROBA_SHOWN]] Arrays& arrays() const;
  [[HIROBA_SHOWN]] Consistency& consistency() const;
  GroupSync& group_sync() const;
  [[HIROBA_SHOWN]] Heap& heap() const;
  [[HIROBA_SHOWN]] Homes& homes() const;
  Locks& locks() const;
  Conditions& conditions() const;
  [[HIROBA_SHOWN]] Preloads& preloads() const;
  [[HIROBA_SHOWN]] Atomics& atomics() const;
  [[HIROBA_SHOWN]] SystemAccess& system_access() const;
  Replicas& replicas() const;
  RankMemory& rank_memory() const;
  [[HIROBA_SHOWN]] PastCache& past_cache() const;
  NamedWrites& named_writes() const;
  RunReport& run_report() const;

  // Returns the offset of memory of a rank for the floor of transactions, zero at the start.
  static constexpr uint64_t transactions_bytes = uint64_t{128} << 20;
  uint64_t transactions(int rank) const;

  // Options stats and report.
  struct Times {
    bool on = false, shown = false;  // shown: option stats
    double now() const { return on ? seconds_now() : 0; }
    double began = 0;
  };
  const Times& times() const;
  // Counts of locks and sync: acquires that had to read logs, the entries about other ranks' writes that they read, and
  // acquires that dropped every copy.
  struct Acquires {
    uint64_t looked = 0, entries = 0, drops = 0;
  };
  Acquires acquires() const;

 private:
  Memory();
  std::unique_ptr<MemoryParts> parts_;
};

// Returns the bytes of memory that this machine has.
[[HIROBA_SHOWN]] uint64_t machine_memory();

// A way of this machine to detect accesses, the best first; why_not is empty if it works.
struct TrackingWay {
  const char* name;
  std::string why_not;
};
std::vector<TrackingWay> tracking_ways();

}  // namespace hiroba
