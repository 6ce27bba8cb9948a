// A linear operator: y = A x for vectors that are divided as its rows are. Matrices, preconditioners and functions of
// the program are operators, and solvers use nothing else.
//
// A rank's part of a vector is memory that it reaches without a page fault: private, or its own part of a shared array
// that is cut as the rows are. T is float, double, or complex of one.
#pragma once

#include <optional>
#include <string>

#include "sparse/ranks.hpp"
#include "sparse/rows.hpp"

namespace hiroba {

class AnyOperator {
 public:
  virtual ~AnyOperator() = default;
  virtual const Rows& rows() const = 0;
  // Returns its description for messages: "matrix of 100 rows".
  virtual std::string what() const = 0;
  // Frees the shared arrays of all ranks. Collective.
  virtual Status release(const Ranks&) { return {}; }
};

template <typename T>
class Operator : public AnyOperator {
 public:
  // x and y are the parts of this rank, rows().of(me) elements each, and do not overlap. Collective.
  virtual Status apply(const Ranks& ranks, const T* x, T* y) = 0;
  // If the operator multiplies each element by its own number, returns these numbers for this rank's elements; else
  // null.
  virtual const T* diagonal() const { return nullptr; }
  // Known from its creation, or found by a solver that needs it.
  bool known_hermitian = false;
  // Found by a solver: the power of 2 next to |A|, or 0 if |A| is not extreme.
  std::optional<int> exponent = {};
};

}  // namespace hiroba
