// Combination of one rank's data with another's. A value; safe anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/shown.hpp"
#include "collective/operators/arithmetic.hpp"

namespace hiroba {

// Combines elements of a later rank into those of an earlier one: numbers, records that begin with a number and of
// which one is chosen, or elements that the program's function combines.
struct Combine {
  // *mine = *mine op *theirs, for count elements; as MPI's user functions, but the result is the first argument.
  using Function = void (*)(void* mine, const void* theirs, int64_t count, void* context);

  Arithmetic arithmetic;
  size_t record = 0;  // bytes of an element; 0: numbers
  Function function = nullptr;
  void* context = nullptr;

  [[HIROBA_SHOWN]] static Status make(Type type, Op op, Combine& out);  // for numbers; fails if C does not have it
  size_t element() const { return record > 0 ? record : bytes_of(arithmetic.to()); }
  void operator()(char* mine, const char* theirs, int64_t count) const;
  // Makes of one member's elements what the operator gives of them: 0 or 1, if it is a logical one.
  void alone(char* data, int64_t count) const;
  // Combines the elements of all members, in their order, into `into`, which may be the first piece.
  void all(char* into, std::span<const char* const> pieces, size_t bytes) const;
  // Rounds sums of numbers once, so that order and grouping make no difference.
  bool exact = false;
  void make_exact();  // has an effect on such sums only
};

}  // namespace hiroba
