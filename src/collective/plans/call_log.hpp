// The exchanges that this rank has begun: their numbers, a digest of all calls up to each, and the latest ones by name,
// in scratch memory that other ranks can read. Calls that differ between ranks are seen by digests in messages; and a
// rank that waits for long reads what the others have called, because one with another root may send it nothing at all.
//
// Owner: Collective. Thread-safe. Other ranks read entries while they are written; an entry has a sum of its own.
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
  static constexpr uint64_t bytes = 16384;  // of each rank's scratch memory

  // `offset` of rank 0's; `stride` from one rank's to the next.
  void start(const World& world, uint64_t offset, uint64_t stride);
  // The next `count` exchanges of the team. `lane` and `lane_calls`: that its members have, and calls in it so far.
  Sequence begin(const Team& team, uint64_t count, const Call& call, int lane, uint32_t lane_calls);
  // Of the next exchange of the team with this name.
  uint64_t next(uint64_t team) const;
  // Of all exchanges of the team that this rank has begun.
  uint64_t digest(uint64_t team) const;
  // How the calls of that rank for the team differ from those of this one: "rank 1 is in .., rank 0 is in ..". Nothing
  // if they do not, or if it has made fewer. Reads the memory of that rank.
  std::string difference(int rank, uint64_t team) const;
  // What that rank has called after so many calls in the lane of the team, if that is an exchange, which this rank has
  // not begun. Reads its memory, too.
  std::string exchange_after(int rank, const Team& team, uint32_t lane_calls) const;
  // Whether that rank has begun this exchange, or a later one of the team. Reads its memory, too.
  bool has_begun(int rank, uint64_t team, uint64_t number) const;
  // The member to look at now: one after another, with pauses, however many operations wait. -1: none.
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
  mutable SignalSafeLock lock_;      // guards what follows, and the writing of entries
  std::map<uint64_t, Count> teams_;  // by name
  size_t written_ = 0;
  mutable double next_look_ = 0;
  mutable int turn_ = 0;
};

// How long one wait has lasted. Cheap, for loops that wait.
class Suspicion {
 public:
  // Whether it is time to ask the log for a member to look at: after a while, now and then.
  bool grows();

 private:
  std::atomic<uint32_t> polls_{0};
  double begin_ = 0;
};

}  // namespace hiroba
