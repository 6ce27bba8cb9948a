// Orders releases and acquires outside of barriers. A rank that releases adds its writes to its node's log of
// intervals; a vector of positions, one in each node's log, says what it has written or seen. A rank that acquires gets
// that vector, and invalidates the pages of the entries that it had not seen. README.md, "Intervals".
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

// The subject of releases and acquires: this rank's writes, and its copies.
class IntervalPages {
 public:
  virtual ~IntervalPages() = default;
  // Sends this rank's writes home and adds those that are in no log yet to `out`. Returns false if not all of them are
  // known.
  virtual bool release(std::vector<Notice>& out) = 0;
  virtual bool nothing_to_release() const = 0;
  // Updates copies of these pages, which are out of date.
  virtual void update(std::span<const Notice> written) = 0;
  virtual void drop() = 0;  // drops every copy
  // Returns whether copies may be older than any log says: between the halves of a sync_drop.
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
  static std::unique_ptr<IntervalPages> pages_of(MemoryParts& parts);  // if there is a cache

  // Sends this rank's writes home and into its node's log. `vector` gets a position for each node, which covers these
  // and all that this rank had seen. Returns the number of the vector, which changes with it.
  uint64_t release(std::span<uint64_t> vector);
  // Refreshes or drops copies that are older than what a release had written or seen.
  void acquire(std::span<const uint64_t> vector);
  // Raises the vector at `at` in the memory of a rank, which several ranks change, to the greater of both, word by
  // word. Returns true if it had to change.
  bool hand_over(std::span<const uint64_t> vector, int rank, uint64_t at);

  // Flags: before an atomic operation may write a flag of a rank, this rank's releases are put beside that rank's
  // flags; after one has read a flag, sync() acquires the vector there.
  void before_flag(int rank) {
    if (told_[static_cast<size_t>(rank)].load(std::memory_order_acquire) != news_.load(std::memory_order_relaxed))
      tell(rank);
  }
  void after_flag(int rank) { looked_at_[static_cast<size_t>(rank)].store(true, std::memory_order_release); }
  // Releases, and acquires the vectors beside the flags that this rank has read since the last sync().
  void sync();

  // Messages and locks of floors above (Consistency): a release to a rank, and an acquire of all that was released to a
  // rank.
  void release_to(int rank);
  void acquire_from(int rank);

  // Notices were dropped before all ranks have read them: the next release says that any page may have been written.
  void lose_track() { untracked_ = uncovered_ = true; }
  // All ranks have dropped all copies since; collective.
  void all_dropped() { untracked_ = uncovered_ = false; }
  // Returns, for this rank's word in a barrier whose notices all ranks read, the position in its node's log up to which
  // they cover its entries, in barrier_bits bits.
  static constexpr int barrier_bits = 36;
  uint64_t at_barrier();
  // Called after the barrier with the words of all ranks: all entries that the notices cover have been seen.
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
  std::mutex lock_;                                 // guards all fields; taken before the flush lock
  bool untracked_ = false;                          // dropped notices were in no log
  bool uncovered_ = false;                          // dropped notices that a barrier would have given to all
  uint64_t covered_ = 0;                            // the end of this node's log when the notices were last complete
  std::vector<uint64_t> seen_;                      // positions in each node's log
  uint64_t written_ = 0;                            // the end, in this node's log, of this rank's entries
  uint64_t version_ = 1;                            // of the vector that a release returns
  std::vector<uint64_t> common_;                    // what all ranks have seen by the latest barrier
  std::atomic<uint64_t> news_{0};                   // counts changes of the vector, except by barriers
  std::vector<uint64_t> with_flags_;                // the vectors beside flags, one for each rank read
  std::unique_ptr<std::atomic<uint64_t>[]> told_;   // for each rank, the news_ whose vector is beside its flags
  std::unique_ptr<std::atomic<bool>[]> looked_at_;  // ranks whose flags were read since the last sync()
  std::vector<Notice> fresh_;                       // entries of one release or acquire
  std::vector<IntervalLog::Part> unseen_;           // of one acquire
  std::vector<uint64_t> joined_;                    // the maximum of those vectors
  Memory::Acquires counts_;
};

}  // namespace hiroba
