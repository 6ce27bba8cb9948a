// With option check: races between ranks. Each rank records the accesses of its loops, as the exact sets of their
// affine accesses; at each barrier rank 0 collects them, and reports each pair that overlaps once. Where subscripts are
// unknown, the pages of other nodes that a rank has fetched or written replace them, and the message contains
// "perhaps". The check does not include order by locks and atomics, nor by group barriers: with option check, every
// loop ends with a barrier of all ranks.
//
// Records are kept until the next barrier. Used by the thread that calls barriers.
#pragma once

#include <span>
#include <vector>

#include "loops/progression.hpp"
#include "loops/view.hpp"

namespace hiroba {

class LoopRaces {
 public:
  // One access of one loop by one rank, as it is sent to others: no pointers.
  struct Touch {
    enum Kind : int32_t { elements, bytes, pages };
    uint64_t array;  // its id, which is the same in every rank
    Kind kind;       // elements: a progression per dimension; else at[0], in bytes of the array
    int32_t flags;   // Access::reads, Access::writes, Access::perhaps
    Progression at[View::most_dims];
    char text[80], place[112];
  };

  // Records the elements of the access over all `values`, for this rank.
  void note(const Access& access, std::span<const Values> values, const char* place);
  // At a barrier: reports the races since the last one. Collective; every rank calls it, with or without a loop.
  Status find(Memory& memory);

 private:
  void note(const Touch& touch);
  void compare(Array& array, const Touch& a, int rank_a, const Touch& b, int rank_b);

  std::vector<Touch> touches_;  // since the last barrier
  bool too_many_ = false;
  RaceReports reports_;
};

}  // namespace hiroba
