// The barrier between two loops, deferred until the next loop is known: a rank then waits only for ranks with which one
// of the two loops shares data, according to the accesses. smint.h (SMINT_LATER) defines the conditions for the
// program. If a fetch needs no call of another rank, a rank that has to wait first computes the iterations that share
// no data with any of them (the independent ones); one that need not wait computes those last, and arrives before them.
// So a rank waits only if one is a whole loop late, and delays of single ranks do not add up.
//
// Why that is enough: let rank r be before loop N, and let X be a loop since the last barrier of all ranks. If r's part
// of N and s's part of X access the same data, and one of them writes, r and s are neighbours here, so s has finished
// X. Parts without such a pair need no order. Both ranks compute the same, so neighbours name each other. The
// independent iterations of r's part of N access nothing that any X accesses on other ranks, so they have no such pair.
// If X is the last loop, s may have arrived without the independent iterations of its part of X. That is enough if N
// was one of the loops before X: then those iterations access nothing that r's part of N accesses. Otherwise r waits
// until s has finished all of X.
//
// For the thread that makes collective calls; begin_loop, finish and settle block.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "loops/share.hpp"

namespace hiroba {

// One execution of a loop, by all ranks.
struct Execution {
  std::vector<Access> accesses;  // of shared arrays
  std::vector<Values> values;
  int shared = 0;
  bool home_writes = false;  // this rank writes only data whose home is on its node
};

// Returns true if they are one loop, with the same values; neither `text` nor home_writes is compared.
bool same(const Execution& a, const Execution& b);

// Returns a rank's share, and the values of all loops: of the shared ones, the rank's.
std::pair<Share, std::vector<Values>> part_of(const Job& job, int rank, const Execution& loop);

// The needs of a rank for a loop after those that all ranks have done since the last barrier: the ranks with which it
// shares data, ascending, and the values of the outermost loop that access no data of other ranks.
struct Needs {
  std::vector<int> others;
  Interval independent = {0, 0};
};
Needs needs_of(const Job& job, std::span<const Execution> done, const Execution& next);

class Neighbours {
 public:
  // The loop has ended on this rank.
  void defer_barrier(Memory& memory, Execution loop);
  // Begins the next loop. If this rank still has to wait for some, the caller must call finish(), after some of the
  // independent values of the outermost loop; all_arrived() returns true if it would not block.
  Status begin_loop(Memory& memory, const Execution& next);
  bool waits() const { return !awaited_.empty(); }
  bool all_arrived(const Memory& memory) const { return memory.group_sync().arrived(awaited_, needed_); }
  Status finish(Memory& memory);
  // Returns the values of the outermost loop that access no data of other ranks; empty if they are unknown.
  Interval independent() const { return independent_; }
  // This loop of a series begins where the last one ended. All others are complete, and this rank's part writes only
  // data whose home is on its node.
  void arrive_with_part(Memory& memory);
  // Another operation follows: makes a barrier of all ranks.
  Status settle(Memory& memory);

 private:
  // Loops of a program alternate, so results are kept; `done` is the size of done_ before the loop.
  struct Known {
    size_t done;
    Execution next;
    Needs needs;
    size_t place;  // in done_; its size if it is not there
  };
  const Known& know(const Memory& memory, const Execution& next);

  static constexpr size_t most_loops = 8;  // between two barriers of all ranks
  bool deferred_ = false, home_writes_ = false;
  std::vector<Execution> done_;  // since the last barrier of all ranks
  std::vector<Known> known_;
  Interval independent_ = {0, 0};
  size_t regarded_ = 0;       // the size of done_ when independent_ was computed
  std::vector<int> awaited_;  // used by finish()
  GroupSync::Work needed_ = GroupSync::Work::all;
};

}  // namespace hiroba
