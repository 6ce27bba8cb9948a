// How what one rank has is combined with what another has. A value; safe anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/shown.hpp"
#include "collective/operators/arithmetic.hpp"

namespace hiroba {

// Combines elements of a later rank into those of an earlier one: numbers, records that begin with a number, of which
// one is chosen, or what the program's function makes of two elements.
struct Combine {
  // *mine = *mine op *theirs, for count elements; as MPI's user functions, but the result is the first argument.
  using Function = void (*)(void* mine, const void* theirs, int64_t count, void* context);

  Arithmetic arithmetic;
  size_t record = 0;  // bytes of an element; 0: numbers
  Function function = nullptr;
  void* context = nullptr;

  [[HIROBA_SHOWN]] static Status make(Type type, Op op, Combine& out);  // of numbers; refuses what C does not have
  size_t element() const { return record > 0 ? record : bytes_of(arithmetic.to()); }
  void operator()(char* mine, const char* theirs, int64_t count) const;
  // The elements of all members, in their order, into `into`, which may be the first piece.
  void all(char* into, std::span<const char* const> pieces, size_t bytes) const;
  // Sums of numbers that are rounded once, so that order and grouping make no difference.
  bool exact = false;
  void make_exact();  // if it is such a sum
};

}  // namespace hiroba
