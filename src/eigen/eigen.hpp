// The contract of this floor: some eigenvalues and eigenvectors of an operator, by the methods of Davidson and of
// Jacobi and Davidson. docs/eigen.md states the method and when it stops.
//
// Vectors are this rank's parts, as in sparse/operator.hpp. Collective; all ranks do the same steps, because all
// decisions come from numbers that are the same on all ranks. Nothing here ends the job or prints: that the method does
// not converge is an outcome, not an error.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "krylov/krylov.hpp"

namespace hiroba {

// Which part of the spectrum, best first. Of general matrices smallest and largest are by the real part.
enum class Part { smallest, largest, closest, largest_magnitude };

// After each step.
struct EigenProgress {
  int64_t steps, products;
  int found;
  std::complex<double> value;  // the pair that is improved now
  double residual;             // its |A x - value x|
};

struct EigenSettings {
  int count = 1;
  Part part = Part::smallest;
  std::complex<double> target = 0;  // of Part::closest
  bool general = false;             // A need not be Hermitian; T is complex
  bool harmonic = false;            // harmonic Ritz vectors, for eigenvalues inside the spectrum
  // Stops when |A x - value x| <= max(absolute, relative |A|) for |x| = 1, where |A| is the largest absolute value of a
  // Ritz value so far.
  double absolute = 1e-10, relative = 0;
  int64_t most = 100000;  // steps
  int space = 30;         // the most vectors of the search space
  int kept = 12;          // of these at a restart
  uint64_t seed = 1;      // of the first vectors
  // The correction equation is solved by that method, with its relative residual and its number of iterations; without,
  // the new direction is the residual, after the preconditioner.
  std::optional<SolverSettings> correction;
  bool (*progress)(const EigenProgress& now, void* context) = nullptr;  // true stops
  void* context = nullptr;
};

template <typename T>
struct EigenOutcome {
  enum class Why { converged, too_many, stopped, stagnated };
  Why why = Why::converged;
  int64_t steps = 0, products = 0;
  double goal = 0;  // what residuals had to reach
  // The pairs that have been found, best first: of this rank's parts, vectors of norm 1, of a Hermitian operator
  // orthonormal; residuals computed from them at the end. If it has not converged, those found so far.
  std::vector<std::complex<double>> values;
  std::vector<double> residuals;
  std::unique_ptr<Workspace<T>> vectors;
  std::string text;  // for messages, if it has not converged: what was reached, and what to change
  bool converged() const { return why == Why::converged; }
};

// `preconditioner`: an operator near to the inverse of A, or of A - target, or null.
template <typename T>
Status find_eigenpairs(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const EigenSettings& settings,
                       EigenOutcome<T>& out);

}  // namespace hiroba
