// The order of releases and acquires outside of barriers: what a rank has written goes into its node's log of intervals
// when it releases, and a vector of positions, one in each node's log, says what it has written or seen. Who acquires
// gets that vector, and invalidates the pages of the entries that it had not seen. README.md, "Intervals".
//
// Owner: MemoryParts. Thread-safe; blocks for the answers of other nodes. Not for the fault handler.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "memory/memory.hpp"
#include "memory/sync/interval_log.hpp"

namespace hiroba {

struct MemoryParts;

// What releases and acquires are about: what this rank has written, and its copies.
class IntervalPages {
 public:
  virtual ~IntervalPages() = default;
  // What this rank has written is at the homes; what is in no log yet is added to `out`. False: not all of it is known.
  virtual bool release(std::vector<Notice>& out) = 0;
  virtual bool nothing_to_release() const = 0;
  // Copies of these pages are out of date.
  virtual void update(std::span<const Notice> written) = 0;
  virtual void drop() = 0;  // every copy
  // Whether copies may be older than any log says: between the halves of a sync_drop.
  virtual bool between() const = 0;
};

class Intervals {
 public:
  struct Config {
    Job job;
    Layout layout;
    char* base = nullptr;
    Transport* transport = nullptr;
    std::unique_ptr<IntervalPages> pages;
  };
  void start(Config config);
  static std::unique_ptr<IntervalPages> pages_of(MemoryParts& parts);  // where there is a cache

  // What this rank has written is at the homes and in its node's log. `vector`: a position for each node, covering that
  // and all that this rank had seen. The number of the vector changes with it.
  uint64_t release(std::span<uint64_t> vector);
  // Copies that are older than what a release had written or seen are refreshed or gone.
  void acquire(std::span<const uint64_t> vector);
  // The vector that lies at `at` in the memory of a rank, and that several change, becomes the greater of both, word by
  // word. True if it had to change.
  bool hand_over(std::span<const uint64_t> vector, int rank, uint64_t at);

  // Flags: what this rank has released lies beside the flags of a rank before an atomic operation may write one of
  // them; and when one has read one, sync() acquires what lies there.
  void before_flag(int rank) {
    if (told_[static_cast<size_t>(rank)].load(std::memory_order_acquire) != news_.load(std::memory_order_relaxed))
      tell(rank);
  }
  void after_flag(int rank) { looked_at_[static_cast<size_t>(rank)].store(true, std::memory_order_release); }
  // A release, and an acquire of what the flags that this rank has read since the last one had been given.
  void sync();

  // Messages and locks of floors above (Consistency): a release to a rank, and an acquire of all that was released to
  // one.
  void release_to(int rank);
  void acquire_from(int rank);

  // Notices were forgotten before all ranks have read them: the next release says that any page may have been written.
  void lose_track() { untracked_ = uncovered_ = true; }
  // All ranks have dropped all copies since; collective.
  void all_dropped() { untracked_ = uncovered_ = false; }
  // For this rank's word in a barrier whose notices all ranks read: up to where they cover its entries in its node's
  // log, in barrier_bits bits.
  static constexpr int barrier_bits = 36;
  uint64_t at_barrier();
  // After it, with those of all ranks: what the notices have covered has been seen.
  void after_barrier(std::span<const uint64_t> covered);

  const Memory::Acquires& counts() const { return counts_; }

 private:
  void release_locked();
  void acquire_locked(std::span<const uint64_t> vector);
  void copy_vector(std::span<uint64_t> out) const;
  void tell(int rank);
  void tell_locked(int rank);

  Config config_;
  IntervalLog log_;
  std::mutex lock_;                                 // guards all of this; before the flush lock
  bool untracked_ = false;                          // notices were forgotten that were in no log
  bool uncovered_ = false;                          // notices were forgotten that a barrier would have handed to all
  uint64_t covered_ = 0;                            // the end of this node's log when the notices were last complete
  std::vector<uint64_t> seen_;                      // of each node's log
  uint64_t written_ = 0;                            // the end, in this node's log, of what this rank has added
  uint64_t version_ = 1;                            // of the vector that a release gives
  std::vector<uint64_t> common_;                    // what all ranks have seen by the latest barrier
  std::atomic<uint64_t> news_{0};                   // counts changes of the vector but for what all ranks have seen
  std::vector<uint64_t> with_flags_;                // that lie beside flags, a vector for each rank that was looked at
  std::unique_ptr<std::atomic<uint64_t>[]> told_;   // of each rank, the count of news that lie beside its flags
  std::unique_ptr<std::atomic<bool>[]> looked_at_;  // flags of each rank, since the last sync()
  std::vector<Notice> fresh_;                       // entries of one release or acquire
  std::vector<uint64_t> joined_;                    // of the flags
  Memory::Acquires counts_;
};

}  // namespace hiroba
