// The barrier between two loops, deferred until the next loop is known: then a rank waits only for those with which one
// of the two has something in common, as far as the accesses say. smint.h (SMINT_LATER) tells what the program must
// keep to. Where no other rank is needed to fetch, a rank that has to wait does, before that, the iterations that have
// nothing in common with any of them (the independent ones); and one that need not wait does those last, and arrives
// before it. So ranks wait only if one is a whole loop late, and delays of single ranks do not add up.
//
// Why that is enough: let rank r be about to do loop N, and let X be a loop done since all ranks met last. If r's part
// of N touches what s's part of X touched, or the other way round, and one of them writes, r and s are neighbours here,
// so s has done X. What has no such pair needs no order. Both compute the same, so neighbours name each other.
// What is independent in r's part of N touches nothing that any X touches elsewhere, so it has no such pair. If X is
// the last loop, s may have arrived without what was independent in its part of X. That is enough if N was one of the
// loops done before X: then what was independent there touches nothing that r's part of N does. Else r waits until s
// has done all of X.
//
// For the thread that makes collective calls; begin_loop, finish and settle block.
#pragma once

#include <utility>
#include <vector>

#include "loops/share.hpp"

namespace hiroba {

// One execution of a loop, by all ranks.
struct Execution {
  std::vector<Access> accesses;  // of shared arrays
  std::vector<Values> values;
  int shared = 0;
  bool home_writes = false;  // this rank writes nothing but what lives on its node
};

// A rank's share of it, and the values of all loops: of the shared ones, the rank's.
std::pair<Share, std::vector<Values>> part_of(const Job& job, int rank, const Execution& loop);

class Neighbours {
 public:
  // The loop has ended on this rank.
  void defer_barrier(Memory& memory, Execution loop);
  // The next loop is to begin. If this rank still has to wait for some, finish() must be called, after some of the
  // values of the outermost loop that are independent; all_arrived() tells whether it would not block any more.
  Status begin_loop(Memory& memory, const Execution& next);
  bool waits() const { return !awaited_.empty(); }
  bool all_arrived(const Memory& memory) const { return memory.collective().arrived(awaited_, needed_); }
  Status finish(Memory& memory);
  // The values of the outermost loop that touch nothing of other ranks; empty if nothing is known of them.
  Interval independent() const { return independent_; }
  // Whether this loop of a series is to begin where the last one has ended.
  // All others have been done, and this rank's part writes nothing but what lives on its node.
  void arrive_with_part(Memory& memory);
  // Something else comes: all ranks meet.
  Status settle(Memory& memory);

 private:
  // Loops of a program alternate, so what has been worked out is kept: for so many of done_, before that loop.
  struct Known {
    size_t done;
    Execution next;
    std::vector<int> others;
    Interval independent;
    size_t place;  // in done_; its size if it is not there
  };
  const Known& know(const Memory& memory, const Execution& next);

  static constexpr size_t most_loops = 8;  // different ones, between two meetings of all
  bool deferred_ = false, home_writes_ = false;
  std::vector<Execution> done_;  // since all ranks met
  std::vector<Known> known_;
  Interval independent_ = {0, 0};
  size_t regarded_ = 0;       // so many of done_ there were when independent_ was found
  std::vector<int> awaited_;  // by finish()
  Memory::Work needed_ = Memory::Work::all;
};

}  // namespace hiroba
