// The barrier between two loops, put off until the next loop is known: then a rank waits only for those with which one
// of the two has something in common, as far as the accesses say; and where nobody's help is needed to fetch, it first
// does what has nothing in common with any of them (early). smint.h (SMINT_LATER) tells what the program promises.
//
// Why that is enough: let rank r be about to do loop N, and let X be a loop done since all ranks met last. If r's part
// of N touches what s's part of X touched, or the other way round, and one of them writes, r and s are neighbours here,
// so s has done X. Whatever has no such pair needs no order. Both compute the same, so neighbours name each other.
// What is early of r's part of N touches nothing that any X touches elsewhere, so it has no such pair.
//
// Owner: the process, as for the other notations. For the thread that makes collective calls; pass and settle block.
#pragma once

#include <utility>
#include <vector>

#include "notation/smint/share.hpp"

namespace hiroba {

// One execution of a loop, by all ranks.
struct Execution {
  std::vector<Touched> accesses;  // of shared arrays
  std::vector<smint_values> values;
  int shared = 0;
  bool home_writes = false;  // this rank writes nothing but what lives on its node
};

// A rank's share of it, and the values of all loops: of the shared ones, the rank's.
std::pair<Share, std::vector<smint_values>> part_of(const Job& job, int rank, const Execution& loop);

class Neighbours {
 public:
  // The loop has ended on this rank.
  void owe(Memory& memory, Execution loop);
  // The next loop is to begin. If this rank still has to wait for some, finish() must be called after the values of the
  // outermost loop that are early, which touch nothing of theirs.
  void pass(Memory& memory, const Execution& next);
  bool waits() const { return !awaited_.empty(); }
  Interval early() const { return early_; }
  void finish(Memory& memory);
  // Something else comes: all ranks meet.
  void settle(Memory& memory);

 private:
  // Loops of a program alternate, so what has been worked out is kept: for so many of done_, before that loop.
  struct Known {
    size_t done;
    Execution next;
    std::vector<int> others;
    Interval early;
  };
  const Known& know(const Memory& memory, const Execution& next);

  static constexpr size_t most_loops = 8;  // different ones, between two meetings of all
  bool owed_ = false, home_writes_ = false;
  std::vector<Execution> done_;  // since all ranks met
  std::vector<Known> known_;
  Interval early_ = {0, 0};
  std::vector<int> awaited_;  // by finish()
};

}  // namespace hiroba
