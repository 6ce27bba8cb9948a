// The correction equation of Jacobi and Davidson: (I - Q Q*)(A - value)(I - Q Q*) t = -r, where Q are the vectors that
// have been found and the one that is improved. A method of the floor below solves it to the given accuracy.
//
// Owner: one call of find_eigenpairs. Collective.
#pragma once

#include <vector>

#include "eigen/basis.hpp"

namespace hiroba {

template <typename T>
class Correction {
 public:
  using W = Wide<T>;
  Correction(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const SolverSettings& settings);
  // Called when the set of found vectors has changed.
  void reset() { kept_ = 0; }
  int64_t products() const { return products_; }
  // u: the vector that is improved; r: its residual. t, at: the direction, and A t.
  Status solve(const Basis<T>& basis, const T* u, W value, const T* r, double relative, T* t, T* at);

 private:
  Status prepare(const Basis<T>& basis, const T* u);

  Ranks ranks_;
  Operator<T>& a_;
  Operator<T>* m_;
  SolverSettings settings_;
  int64_t n_;
  std::vector<std::vector<T>> prepared_;  // the preconditioner on each vector of Q
  size_t kept_ = 0;                       // number of these for found vectors
  std::vector<const T*> q_;
  Dense<W> gram_;  // Q* (preconditioner) Q
  int64_t products_ = 0;
};

}  // namespace hiroba
