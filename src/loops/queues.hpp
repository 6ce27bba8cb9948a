// Iterations that ranks take while a loop runs: schedule(dynamic) and schedule(guided). Each rank's share is a queue. A
// word in the memory of its node counts the iterations that any rank has taken from it, by one atomic addition. A rank
// takes from its own queue, then from those of its node, then from those of other nodes: one message brings the words
// of a node, and another one takes half of what is left in its fullest queue. The nodes that a rank asks are 1, 2, 4,
// .. away from its own, so that the messages grow with the logarithm of their number.
//
// All ranks compute the same shares, so the queue of a rank that has not begun the loop yet can be taken from, too.
//
// Two tables of words alternate. A rank that begins a loop clears its words in the table of the next one. No rank uses
// that table then: the barrier at the end of the loop before, which used it, has been passed, and the next loop begins
// after the barrier at the end of this one. So each such loop must end with a barrier of all ranks.
//
// For the thread that makes collective calls. The first begin() allocates the words, and is collective.
#pragma once

#include <utility>
#include <vector>

#include "loops/neighbours.hpp"

namespace hiroba {

struct Schedule {
  int64_t chunk = 0;    // the iterations to take at once; 0: those of each rank are known when the loop begins
  bool guided = false;  // at first more: a part of what is left
};

class Queues {
 public:
  struct Taken {
    Interval values = {0, 0};  // of the outermost loop; empty if nothing is left
    bool own = true;           // of this rank's queue
  };

  // `share`: this rank's values of the outermost loop, of which alone ranks take parts.
  Status begin(Memory& memory, Execution loop, Interval share, Schedule schedule);
  Taken take(const Memory& memory);
  const Execution& loop() const { return loop_; }

 private:
  struct Words {                       // in the memory of a node's first rank, a cache line for each rank
    uint64_t taken, begun, unused[6];  // `begun`: one more than the iterations of the queue; 0 before the rank begins
  };
  Status allocate(Memory& memory);
  uint64_t offset(const Job& job, int rank, uint64_t table) const;
  Words& words(const Memory& memory, int rank, uint64_t table) const;
  Interval share_of_rank(const Job& job, int rank) const;
  int64_t count_in(const Job& job, int rank, uint64_t begun) const;
  Interval part_of_queue(const Job& job, int rank, int64_t from, int64_t size) const;
  bool take_here(const Memory& memory, int rank, Interval& out);
  bool take_away(const Memory& memory, int node, Interval& out);

  Execution loop_;
  Interval share_ = {0, 0};
  Schedule schedule_;
  uint64_t base_ = 0, stride_ = 0;  // of the words of a node; the offset of those of rank 0, and from rank to rank
  uint64_t table_ = 0;
  int visited_ = 0, distance_ = 1;  // the queues of this node, and the nodes, in which nothing is left
  std::vector<Words> copy_;         // of another node's words
};

}  // namespace hiroba
