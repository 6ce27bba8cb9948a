// With option check: races between ranks. Each rank notes what its loops touch, as the exact sets of their affine
// accesses; at each barrier rank 0 gathers them, and names the pairs that meet, once each. Where
// subscripts are not known, the pages that a rank has fetched or written of other nodes stand for them, and the message
// says "perhaps". Order by locks and atomics is not seen, nor by waiting for some ranks only: with option check, every
// loop ends with a barrier of all.
//
// What is noted stays until the next barrier. Used by the thread that calls barriers.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "loops/progression.hpp"
#include "loops/view.hpp"

namespace hiroba {

class LoopRaces {
 public:
  // One access of one loop by one rank, as it is sent to others: no pointers.
  struct Touch {
    enum Kind : int32_t { elements, bytes, pages };
    uint64_t first_page;  // of the array, which is the same in every rank
    Kind kind;            // elements: a progression per dimension; else at[0], in bytes of the array
    int32_t flags;        // Access::reads, Access::writes, Access::perhaps
    Progression at[View::most_dims];
    char text[80], place[112];
  };

  // This rank touches what the access says over all `values`.
  void note(const Access& access, std::span<const Values> values, const char* place);
  // At a barrier: names the races since the last one. Collective; every rank calls, whether it has had a loop or not.
  Status find(Memory& memory);

 private:
  void note(const Touch& touch);
  void compare(Array& array, const Touch& a, int rank_a, const Touch& b, int rank_b);

  std::vector<Touch> touches_;  // since the last barrier
  bool too_many_ = false;
  std::set<std::string> reported_;
};

}  // namespace hiroba
