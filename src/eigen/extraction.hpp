// Approximate eigenvectors in a search space, from the projection of A on it: Ritz vectors, Schur vectors, and harmonic
// ones.
//
// Collective functions: rank 0 computes, so that ranks on processors of different kinds do not diverge.
#pragma once

#include <cmath>
#include <functional>

#include "eigen/eigen.hpp"
#include "eigen/lapack.hpp"

namespace hiroba {

// x -= Q Q* x, for the first columns of Q; returns |x|.
template <typename W>
double project_out(const Dense<W>& q, int columns, W* x) {
  for (int c = 0; c < columns; ++c) {
    W along = 0;
    for (int i = 0; i < q.rows; ++i) along += conjugated(q.at(i, c), true) * x[i];
    for (int i = 0; i < q.rows; ++i) x[i] -= along * q.at(i, c);
  }
  double squares = 0;
  for (int i = 0; i < q.rows; ++i) squares += std::norm(x[i]);
  return std::sqrt(squares);
}

template <typename W>
struct Extraction {
  Dense<W> s;          // orthonormal columns, best first
  W value = 0;         // the Rayleigh quotient of the first
  double largest = 0;  // absolute value of a Ritz value; only without harmonic vectors
};

// `h`, `m`: of the active vectors. `refines`: the first harmonic vector is near to an eigenvector, so the Ritz vector
// near to it replaces it, whose residual is not limited by the squared condition of the harmonic problem.
template <typename W>
Status extract(const Ranks& ranks, const EigenSettings& settings, const Dense<W>& h, const Dense<W>& m, bool refines,
               Extraction<W>& out);

// Computes from the found vectors: eigenvalues, best first, and coefficients of eigenvectors of norm 1, which are
// orthonormal for a Hermitian A. `gram`: V* V, which differs from the identity by rounding errors.
template <typename W>
Status extract_found(const Ranks& ranks, const EigenSettings& settings, const Dense<W>& h, const Dense<W>& gram,
                     std::vector<std::complex<double>>& values, Dense<W>& vectors);

}  // namespace hiroba
