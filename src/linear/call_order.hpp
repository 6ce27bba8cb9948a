// When a call has to begin with a barrier, so that calls follow each other as the statements of one program: if a rank
// reads what another may have written in an earlier call, or writes what another may still read in one. Whole arrays
// are looked at; all ranks come to the same answer, because all make the same calls.
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
    bool others;  // a rank reads what another owns
  };

  void at_barrier() { since_.clear(); }

  // True if a barrier must come first; from there on, the call counts.
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

  std::vector<Since> since_;  // the last barrier
};

}  // namespace hiroba
