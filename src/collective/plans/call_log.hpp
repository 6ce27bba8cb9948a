// The exchanges that this rank has begun: their numbers, a digest of all calls up to each, and the latest ones by name,
// in scratch memory that other ranks can read. Digests in messages reveal calls that differ between ranks. A rank that
// waits for long reads the other ranks' logs, because a rank with another root may send it nothing.
//
// Owner: Collective. Thread-safe. Other ranks read entries while they are written; each entry has a checksum.
#pragma once

#include <atomic>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collective/team.hpp"
#include "collective/world.hpp"

namespace hiroba {

class CallLog {
 public:
  static constexpr uint64_t bytes = 16384;  // in each rank's scratch memory

  // `offset`: that of rank 0's log; `stride`: distance between two ranks' logs.
  void start(const World& world, uint64_t offset, uint64_t stride);
  // Begins the next `count` exchanges of the team. `lane`: the lane of its members; `lane_calls`: calls in it so far.
  Sequence begin(const Team& team, uint64_t count, const Call& call, int lane, uint32_t lane_calls);
  // Returns the number of the next exchange of the team with this name.
  uint64_t next(uint64_t team) const;
  // Returns the digest of all exchanges of the team that this rank has begun.
  uint64_t digest(uint64_t team) const;
  // Describes the difference of that rank's calls for the team and this rank's: "rank 1 is in .., rank 0 is in ..".
  // Empty if they are equal, or if it has made fewer. Reads the memory of that rank.
  std::string difference(int rank, uint64_t team) const;
  // Returns "rank 1 is in ..", the call of that rank after `lane_calls` calls in the team's lane, if that is an
  // exchange that this rank has not begun. Reads its memory, too.
  std::string exchange_after(int rank, const Team& team, uint32_t lane_calls) const;
  // Returns true if that rank has begun this exchange, or a later one of the team. Reads its memory, too.
  bool has_begun(int rank, uint64_t team, uint64_t number) const;
  // Returns the member to examine now: one after another, with pauses, for any number of waiting operations. -1: none.
  int next_look(int me, int members) const;
  static uint64_t digest_of(const char* name);

 private:
  struct Entry;
  struct Count {
    uint64_t number = 0, digest = 0;
  };
  static constexpr size_t entries = 64;
  char* own() const;
  std::vector<Entry> read(int rank, uint64_t team) const;

  const World* world_ = nullptr;
  uint64_t offset_ = 0, stride_ = 0;
  mutable SignalSafeLock lock_;      // guards the next members, and the writing of entries
  std::map<uint64_t, Count> teams_;  // by name
  size_t written_ = 0;
  mutable double next_look_ = 0;
  mutable int turn_ = 0;
};

// Measures how long one wait has lasted. Cheap, for loops that wait.
class Suspicion {
 public:
  // Returns true if it is time to ask the log for a member to examine: after a while, at intervals.
  bool grows();

 private:
  std::atomic<uint32_t> polls_{0};
  double begin_ = 0;
};

}  // namespace hiroba
