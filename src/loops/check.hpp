// With option check: whether a loop touched what its subscripts said, by counters before and after it, and what it
// touched, for races.hpp. Made by smint_begin, used by the thread that made it, on every rank for itself.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "loops/races.hpp"

namespace hiroba {

class LoopCheck {
 public:
  // `place` is a text of the program, which stays; `known`: all subscripts of the loop are affine; `values`: this
  // rank's iterations.
  LoopCheck(const Memory& memory, const char* place, bool known, std::span<const Values> values);

  void touches(LoopRaces& races, const Access& access) const;

  // Behind the barrier that ends the loop: says, once for each loop and array, which pages went through the page cache
  // although the analysis knew better. That is slow, but never wrong.
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
