// The shared words of loops: for each rank a queue of iterations, from which its threads take chunks first, and then
// those of other ranks. A loop uses the slot of its number since the last
// barrier; two banks of slots take turns, so that each rank can clear its own words after a barrier.
//
// Owner: Regions. Thread-safe, but clear().
#pragma once

#include <cstdint>

#include "memory/memory.hpp"
#include "openmp/program/member.hpp"

namespace hiroba::openmp {

class Queues {
 public:
  static constexpr uint64_t slots = 128;  // loops without a barrier after them, until there is one

  Status allocate(Memory& memory);  // collective

  // Takes the next chunk of the thread's loop: member.loop.first and last. Returns false if there is none.
  bool take(Member& member) const;
  // Waits until all iterations before the chunk have left ordered code.
  void await_turn(Member& member) const;
  // Passes on the right to enter ordered code, when the chunk has ended.
  void end_turn(Member& member) const;

  // Clears this rank's words for the next loops. Requires that the barrier after `barriers` others has ended and the
  // next one has not begun; `shares` loops lie between the two before.
  void clear(uint64_t barriers, uint64_t shares) const;

 private:
  struct Slot {
    int64_t next, turn, unused[6];
  };
  Slot* bank(int rank, uint64_t barriers) const;
  Slot& slot(int rank, const Member& member) const;
  bool take_fixed(Member& member) const;
  bool take_shared(Member& member) const;
  bool take_from(int rank, Member& member) const;

  Memory* memory_ = nullptr;
  Slot* all_ = nullptr;
};

}  // namespace hiroba::openmp
