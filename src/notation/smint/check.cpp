#include "notation/smint/check.hpp"

#include <algorithm>
#include <vector>

#include "base/log.hpp"
#include "sms.h"

namespace hiroba {

LoopCounts LoopCounts::now() {
  sms_statistics all;
  sms_stats(nullptr, &all);
  return {all.read_faults, all.pages_diffed};
}

void check_loop(const char* place, const LoopCounts& before, bool all_known) {
  static std::vector<const char*> reported;  // places are texts of the program, so their addresses name them
  const LoopCounts now = LoopCounts::now();
  const auto faults = static_cast<unsigned long long>(now.faults - before.faults);
  const auto written = static_cast<unsigned long long>(now.diffed - before.diffed);
  constexpr unsigned long long at_borders = 4;  // a page at either end of a part, in two arrays
  const bool missed = all_known && faults > 0, away = written > at_borders;
  if ((!missed && !away) || std::count(reported.begin(), reported.end(), place) > 0) return;
  reported.push_back(place);
  if (missed)
    log_line(
        "check: parallel for at %s: %llu page faults, although all its subscripts are known; this is slow, not wrong",
        place, faults);
  if (away)
    log_line(
        "check: parallel for at %s: wrote %llu pages whose home is another node; its iterations do not go to the home "
        "of "
        "what they write (see hirobacc --explain; affinity(...) chooses)",
        place, written);
}

}  // namespace hiroba
