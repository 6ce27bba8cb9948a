#include "loops/check.hpp"

#include "base/log.hpp"

namespace hiroba {

LoopCheck::LoopCheck(const Memory& memory, const char* place, bool known, std::span<const Values> values)
    : memory_(memory), place_(place), known_(known), values_(values.begin(), values.end()), before_(now(memory)) {}

std::vector<LoopCheck::Counts> LoopCheck::now(const Memory& memory) {
  std::vector<Counts> out;
  memory.arrays().for_each(
      [&](const Array& array) { out.push_back({&array, array.counters.faults, array.counters.diffed}); });
  return out;
}

void LoopCheck::touches(LoopRaces& races, const Access& access) const { races.note(access, values_, place_); }

void LoopCheck::report(std::set<std::string>& reported) const {
  constexpr uint64_t at_borders = 2;  // a page at either end of a part
  for (const Counts& counts : now(memory_))
    for (const Counts& before : before_) {
      if (before.array != counts.array) continue;
      const uint64_t faults = counts.faults - before.faults, written = counts.diffed - before.diffed;
      const bool missed = known_ && faults > 0, away = written > at_borders;
      if ((!missed && !away) || !reported.insert(std::string(place_) + " " + counts.array->name).second) continue;
      if (missed)
        log_line(
            "check: parallel for at %s: %lu page faults on %s, although all subscripts are known; this is slow, "
            "not wrong",
            place_, faults, counts.array->name);
      if (away)
        log_line(
            "check: parallel for at %s: wrote %lu pages of %s whose home is another node: its iterations do not "
            "go to the home of what they write (see hirobacc --explain; affinity(...) chooses)",
            place_, written, counts.array->name);
    }
}

}  // namespace hiroba
