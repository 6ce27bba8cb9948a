// The contract of this floor: iterative solvers of A x = b for any operator, and preconditioners, which are operators,
// too. docs/sparse.md states the methods and their stopping criteria.
//
// Vectors are this rank's parts, as in sparse/operator.hpp. Everything is collective; all ranks do the same iterations,
// because all decisions use sums that are the same on all ranks. Nothing here ends the job or prints: no convergence is
// an outcome, not an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "krylov/scaled.hpp"
#include "sparse/sparse.hpp"

namespace hiroba {

enum class Method { cg, pipelined_cg, bicgstab, gmres, minres };
const char* name_of(Method method);

struct SolverSettings {
  Method method = Method::cg;
  // Stops when |b - A x| <= max(relative |b|, absolute), in the Euclidean norm.
  double relative = 1e-8, absolute = 0;
  int64_t most = 10000;  // iterations
  int restart = 30;      // of GMRES: vectors
  // If set, called by all ranks after each iteration; returns true to stop.
  bool (*progress)(int64_t iteration, double residual, void* context) = nullptr;
  void* context = nullptr;
};

struct Outcome {
  enum class Why { converged, too_many, stopped, broke_down, stagnated, not_finite };
  Why why = Why::converged;
  int64_t iterations = 0, products = 0;
  double goal = 0;              // the limit for |b - A x|
  double residual = 0;          // |b - A x|, computed from x at the end
  std::vector<double> history;  // the method's own residual norm, at the start and after each iteration
  std::string text;             // if not converged: a message with the residual and the settings to change
  bool converged() const { return why == Why::converged; }
};

// x: the initial vector, then the solution. `preconditioner`: an operator near to the inverse of A, or null; for CG,
// pipelined CG and MINRES it is Hermitian positive definite.
template <typename T>
Status solve(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const T* b, T* x,
             const SolverSettings& settings, Outcome& out);

// ---- preconditioners: z = M r, where M is near to the inverse of A ----

// The inverse of a matrix's diagonal.
template <typename T>
Status make_jacobi(const Ranks& ranks, SparseMatrix<T>& a, std::unique_ptr<Operator<T>>& out);
// Incomplete factors of each rank's rows and columns, without fill-in; `relax` (0 to 1) of the fill-in is added to the
// diagonal.
template <typename T>
Status make_block_ilu(const Ranks& ranks, SparseMatrix<T>& a, double relax, std::unique_ptr<Operator<T>>& out);
// A Chebyshev polynomial in D^-1 A, with D the diagonal, for eigenvalues of D^-1 A between low and high; estimated, if
// high is 0. `a` outlives it.
template <typename T>
Status make_chebyshev(const Ranks& ranks, SparseMatrix<T>& a, int degree, double low, double high,
                      std::unique_ptr<Operator<T>>& out);

}  // namespace hiroba
