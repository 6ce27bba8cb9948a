// With option check: whether a loop touched what its subscripts said. Counters before and after tell, so it costs
// nothing, and finds what went through the page cache although the analysis knew better: slow, but never wrong.
#pragma once

#include <cstdint>

namespace hiroba {

struct LoopCounts {
  uint64_t faults = 0, diffed = 0;
  static LoopCounts now();
};

// Reports each loop once, on the rank that sees it. `all_known`: its subscripts are all affine.
void check_loop(const char* place, const LoopCounts& before, bool all_known);

}  // namespace hiroba
