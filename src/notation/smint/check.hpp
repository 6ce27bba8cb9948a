// With option check: whether a loop touched what its subscripts said. Counters before and after tell, so it costs
// nothing, and finds what went through the page cache although the analysis knew better: slow, but never wrong.
#pragma once

#include "memory/memory.hpp"

namespace hiroba {

struct LoopCounts {
  uint64_t faults = 0, diffed = 0;
  static LoopCounts of(const Memory& memory);
};

// Reports each loop once, on the rank that sees it. `expected`: pages that neighbours share are no surprise.
void check_loop(const Memory& memory, const char* place, const LoopCounts& before, bool all_known);

}  // namespace hiroba
