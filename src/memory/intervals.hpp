// The order of releases and acquires outside of barriers: what a rank has written goes into its node's log of intervals
// when it releases, and a vector of positions, one in each node's log, says what it has written or seen. Who acquires
// gets that vector, and invalidates the pages of the entries that it had not seen. README.md, "Intervals".
//
// Owner: MemoryParts. Thread-safe; blocks for the answers of other nodes. Not for the fault handler.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "memory/interval_log.hpp"
#include "memory/memory.hpp"

namespace hiroba {

struct MemoryParts;

class Intervals {
 public:
  explicit Intervals(MemoryParts& parts) : parts_(parts) {}
  void start();  // where there is a cache

  // What this rank has written is at the homes and in its node's log. `vector`: a position for each node, covering that
  // and all that this rank had seen. The number of the vector changes with it.
  uint64_t release(std::span<uint64_t> vector);
  // Copies that are older than what a release had written or seen are refreshed or gone.
  void acquire(std::span<const uint64_t> vector);
  // A release, and an acquire of all releases before.
  void release_and_acquire_all();

  // Notices were forgotten before all ranks have read them: the next release says that any page may have been written.
  void lose_track() { untracked_ = uncovered_ = true; }
  // All ranks have dropped all copies since; collective.
  void all_dropped() { untracked_ = uncovered_ = false; }
  // For this rank's word in a barrier whose notices all ranks read: up to where they cover its entries in its node's
  // log, in barrier_bits bits.
  static constexpr int barrier_bits = 37;
  uint64_t at_barrier();
  // After it, with those of all ranks: what the notices have covered has been seen.
  void after_barrier(std::span<const uint64_t> covered);

  const Memory::Acquires& counts() const { return counts_; }

 private:
  void release_locked();
  void acquire_locked(std::span<const uint64_t> vector);
  void drop();

  MemoryParts& parts_;
  IntervalLog log_;
  std::mutex lock_;             // guards all of this; before the flush lock
  bool untracked_ = false;      // notices were forgotten that were in no log
  bool uncovered_ = false;      // notices were forgotten that a barrier would have handed to all
  uint64_t covered_ = 0;        // the end of this node's log when the notices were last complete
  std::vector<uint64_t> seen_;  // of each node's log
  uint64_t written_ = 0;        // the end, in this node's log, of what this rank has added
  uint64_t version_ = 1;        // of the vector that a release gives
  std::vector<Notice> fresh_;   // entries of one release or acquire
  std::vector<uint64_t> ends_;
  Memory::Acquires counts_;
};

}  // namespace hiroba
