// With option check: whether a loop touched what its subscripts said, by counters before and after it, and what it
// touched, for races.hpp. Made by smint_begin, used by the thread that made it, on every rank for itself.
#pragma once

#include <span>
#include <vector>

#include "notation/smint/view.hpp"

namespace hiroba {

class LoopCheck {
 public:
  // `place` is a text of the program, which stays; `known`: all subscripts of the loop are affine; `values`: this
  // rank's iterations.
  LoopCheck(const Memory& memory, const char* place, bool known, std::span<const smint_values> values);

  void touches(const smint_access& access);

  // Behind the barrier that ends the loop: says, once for each loop and array, which pages went through the page cache
  // although the analysis knew better. That is slow, but never wrong.
  void report() const;

 private:
  struct Counts {
    const Array* array;
    uint64_t faults, diffed;
  };
  static std::vector<Counts> now(const Memory& memory);

  const Memory& memory_;
  const char* place_;
  bool known_;
  std::vector<smint_values> values_;
  std::vector<Counts> before_;
};

}  // namespace hiroba
