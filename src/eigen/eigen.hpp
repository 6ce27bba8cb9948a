// The contract of this floor: some eigenvalues and eigenvectors of an operator, by the methods of Davidson and of
// Jacobi and Davidson. docs/eigen.md states the method and its stopping criteria.
//
// Vectors are this rank's parts, as in sparse/operator.hpp. Collective; all ranks do the same steps, because all
// decisions use numbers that are the same on all ranks. Nothing here ends the job or prints: no convergence is an
// outcome, not an error.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "krylov/krylov.hpp"

namespace hiroba {

// The part of the spectrum, best first. For general matrices smallest and largest are by the real part.
enum class Part { smallest, largest, closest, largest_magnitude };
struct Order {
  Part part;
  std::complex<double> target = 0;  // of Part::closest
  // Returns the key of an eigenvalue: a smaller one is better.
  double key(std::complex<double> value) const;
};

// The state after each step.
struct EigenProgress {
  int64_t steps, products;
  int found;
  std::complex<double> value;  // the pair that is improved now
  double residual;             // its |A x - value x|
};

struct EigenSettings {
  int count = 1;
  Part part = Part::smallest;
  std::complex<double> target = 0;  // for Part::closest
  bool general = false;             // A need not be Hermitian; T is complex
  bool harmonic = false;            // harmonic Ritz vectors, for eigenvalues inside the spectrum
  // Stops when |A x - value x| <= max(absolute, relative |A|) for |x| = 1, where |A| is the largest absolute value of a
  // Ritz value so far.
  double absolute = 1e-10, relative = 0;
  int64_t most = 100000;  // steps
  int space = 30;         // the most vectors of the search space
  int kept = 12;          // vectors kept at a restart
  uint64_t seed = 1;      // for the first vectors
  // The method that solves the correction equation, with its relative residual and its number of iterations; without
  // it, the new direction is the residual, after the preconditioner.
  std::optional<SolverSettings> correction;
  bool (*progress)(const EigenProgress& now, void* context) = nullptr;  // true stops
  void* context = nullptr;
};

template <typename T>
struct EigenOutcome {
  using Why = Outcome::Why;
  Why why = Why::converged;
  int64_t steps = 0, products = 0;
  double goal = 0;  // the limit for residuals
  // The pairs that have been found, best first: this rank's parts of vectors of norm 1, orthonormal for a Hermitian
  // operator; residuals computed from them at the end. If it has not converged, those found so far.
  std::vector<std::complex<double>> values;
  std::vector<double> residuals;
  std::unique_ptr<Workspace<T>> vectors;
  std::string text;  // for messages, if not converged: the result reached, and the settings to change
  bool converged() const { return why == Why::converged; }
};

// `preconditioner`: an operator near to the inverse of A, or of A - target, or null.
template <typename T>
Status find_eigenpairs(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const EigenSettings& settings,
                       EigenOutcome<T>& out);

}  // namespace hiroba
