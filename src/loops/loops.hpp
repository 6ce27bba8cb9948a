// The contract of this floor: loops that all ranks share: who does which iterations, what they touch of other nodes,
// and in which order the parts are done. Everything follows from affine accesses, evaluated anew at each execution.
//
// A Loops object is one rank's part; the process owns it. A Loop is one execution, which belongs to the notation; until
// its end no other begins. begin and next may block where an earlier loop has put its barrier off, settle and end
// (unless told otherwise) are collective. For the thread that makes collective calls.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "loops/share.hpp"
#include "loops/view.hpp"
#include "memory/memory.hpp"

namespace hiroba {

class LoopCheck;
struct Execution;

// Of the rank's values, the boundary is what lies on both sides of the inner part. While something is awaited, the
// inner part is done; else it comes last. `step` > 0 and intervals ascend, also for a loop that counts downwards, whose
// values are told to the program from the top.
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
  bool boundary_first;           // the others need not wait for the inner part
  std::vector<PageRun>* noting;  // null: nothing is to be noted at the end
  LoopCheck* check;              // null: nothing is to be checked
  Execution* whole;              // null: the barrier at the end is not put off
};

struct Loop {
  enum Flag {
    no_wait = 1,
    drop = 2,   // the barrier at the end is sync_drop
    known = 4,  // the accesses are all there are
    collapse = 8,
    later = 16  // the barrier at the end waits for the next loop, or settle
  };
  int64_t first[most_shared], end[most_shared];  // of the part to do
  LoopProgress progress;
};

class Loops {
 public:
  Loops();
  ~Loops();
  // Decides which iterations are this rank's, and begins to fetch what they touch. Of the loops, `values` by depth, the
  // first `shared` are shared out together. `place`, "main.c:12", outlives the loop.
  Status begin(Memory& memory, Loop& loop, std::vector<Access> accesses, std::span<const Values> values, int shared,
               int flags, const char* place);
  // After begin: what the loop used when it was last run with these arrays is fetched at once. `memo` is null at first.
  Status recall(Memory& memory, Loop& loop, void*& memo, std::vector<const void*> arrays);
  // Sets the loop to the next part of this rank's iterations, if there is any.
  Status next(Memory& memory, Loop& loop, bool& any);
  // barrier() is called if there is to be one now.
  void end(Memory& memory, Loop& loop, void (*barrier)(bool drop));
  // The barrier that a loop has put off, if there is one.
  Status settle(Memory& memory);

  // ---- option check ----
  void touches(const Loop& loop, const Access& access);
  // At each barrier of the program. Collective.
  Status find_races(Memory& memory);

 private:
  struct Parts;
  Status enter(const char* place);

  std::unique_ptr<Parts> parts_;
  std::atomic<const char*> place_{nullptr};  // of the loop that this process is in; another thread may come by mistake
};

}  // namespace hiroba
