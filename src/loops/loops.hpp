// The contract of this floor: loops that all ranks share: the iterations of each rank, the data of other nodes that
// they use, and the order of the parts. All of this follows from affine accesses, evaluated at each execution.
//
// A Loops object is one rank's part; the process owns it. It executes one loop at a time, from begin to end. begin and
// next may block if an earlier loop has deferred its barrier; settle and end
// (unless its flags say otherwise) are collective. For the thread that makes collective calls.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "loops/footprint.hpp"
#include "loops/integers.hpp"
#include "loops/share.hpp"
#include "loops/tiles.hpp"
#include "loops/view.hpp"
#include "memory/memory.hpp"

namespace hiroba {

class LoopCheck;
struct Execution;

// The boundary is the rank's values on both sides of the inner part. While data or ranks are awaited, the inner
// part runs; otherwise it is last. `step` > 0 and intervals ascend, also for a loop that counts downwards: the program
// gets its values from the top.
struct LoopProgress {
  enum Awaited : int32_t { nothing, data, ranks };  // before the boundary
  enum Stage : int32_t { overlap, lower_boundary, upper_boundary, rest, done };
  Interval mine, inner;
  int64_t step;
  int32_t flags;
  Stage stage;
  Awaited waiting;
  bool down;  // the program's loop counts downwards
  bool inner_done;
  bool takes;           // iterations from the queues of all ranks
  bool boundary_first;  // the others need not wait for the inner part
  PageSet* noting;      // null: nothing is recorded at the end
  LoopCheck* check;     // null: nothing is checked
  Execution* whole;     // null: the barrier at the end is not deferred
};

// The values of a part of the iterations, by distributed loop.
struct LoopPart {
  int64_t first[most_shared], end[most_shared];
};

struct Loop {
  enum Flag {
    no_wait = 1,
    drop = 2,   // the barrier at the end is sync_drop
    known = 4,  // the loop makes no other accesses
    collapse = 8,
    later = 16,    // the barrier at the end waits for the next loop, or settle
    dynamic = 32,  // ranks take iterations while the loop runs; no_wait and later do not hold
    guided = 64    // the same, at first more of them at once
  };
  LoopPart part;
  LoopProgress progress;
};

class Loops {
 public:
  Loops();
  ~Loops();
  // Determines the iterations of this rank, and starts to fetch the data that they use. Of the loops, `values` by
  // depth, the first `shared` are distributed together; with flag dynamic or guided the first alone, `chunk` iterations
  // at a time. `place`, "main.c:12", outlives the loop.
  Status begin(Memory& memory, std::vector<Access> accesses, std::span<const Values> values, int shared, int flags,
               int64_t chunk, const char* place);
  // A serial loop is about to do these accesses, all iterations on this rank: makes memory for new arrays of the node.
  static void fill(const Memory& memory, std::span<const Access> accesses, std::span<const Values> values);
  // After begin: starts to fetch all pages that the loop used at its last execution with these arrays. `memo` is null
  // at first.
  Status recall(Memory& memory, void*& memo, std::vector<const void*> arrays);
  // The next part of this rank's iterations, valid until the next call; null if there is none.
  Status next(Memory& memory, const LoopPart*& part);
  // Calls barrier() if one is due now.
  void end(Memory& memory, void (*barrier)(bool drop));
  // Completes the barrier that a loop has deferred, if any.
  Status settle(Memory& memory);

  // ---- option check ----
  void touches(const Access& access);
  // Called at each barrier of the program. Collective.
  Status find_races(Memory& memory);

 private:
  struct Parts;
  Status enter(const char* place);

  std::unique_ptr<Parts> parts_;
  std::atomic<const char*> place_{nullptr};  // the loop that this process executes; another thread may call by mistake
};

}  // namespace hiroba
