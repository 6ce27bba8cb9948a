// Decides if a call begins with a barrier, so that calls follow each other as the statements of one program: if a rank
// reads data that another may have written in an earlier call, or writes data that another may still read in one. The
// unit is an array; all ranks decide alike, because all make the same calls.
//
// Owner: Linear. For the thread that makes collective calls.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "memory/memory.hpp"

namespace hiroba {

class CallOrder {
 public:
  struct Use {
    const Array* array;
    bool writes;
    bool others;  // a rank reads elements that another owns
  };

  void at_barrier() { since_.clear(); }

  // Returns true if a barrier must come first; records the call.
  bool enter(std::initializer_list<Use> uses) {
    const bool wait = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return std::any_of(since_.begin(), since_.end(), [&](const Since& since) {
        return since.id == use.array->id() && (use.writes ? since.read_by_others : use.others && since.written);
      });
    });
    if (wait) at_barrier();
    for (const Use& use : uses) note(use);
    return wait;
  }

 private:
  struct Since {
    uint64_t id;
    bool written, read_by_others;
  };
  void note(const Use& use) {
    if (!use.writes && !use.others) return;
    auto found =
        std::find_if(since_.begin(), since_.end(), [&](const Since& since) { return since.id == use.array->id(); });
    if (found == since_.end()) found = since_.insert(found, {use.array->id(), false, false});
    (use.writes ? found->written : found->read_by_others) = true;
  }

  std::vector<Since> since_;  // since the last barrier
};

}  // namespace hiroba
