// Option check: compares the pages that a loop accessed with those that its subscripts name, by counters before and
// after it, and records its accesses for races.hpp. Made by smint_begin, used by the thread that made it, on each rank
// separately.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "loops/races.hpp"

namespace hiroba {

class LoopCheck {
 public:
  // `place` is a text of the program, which remains valid; `known`: all subscripts of the loop are affine; `values`:
  // this rank's iterations.
  LoopCheck(const Memory& memory, const char* place, bool known, std::span<const Values> values);

  void touches(LoopRaces& races, const Access& access) const;

  // After the barrier that ends the loop: reports, once for each loop and array, the pages that the page cache fetched
  // although all subscripts are known. Such a fetch is slow, but correct.
  void report(std::set<std::string>& reported) const;

 private:
  struct Counts {
    const Array* array;
    uint64_t faults, diffed;
  };
  static std::vector<Counts> now(const Memory& memory);

  const Memory& memory_;
  const char* place_;
  bool known_;
  std::vector<Values> values_;
  std::vector<Counts> before_;
};

}  // namespace hiroba
