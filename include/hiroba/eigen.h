/* eigen.h: some eigenvalues and eigenvectors of a linear operator (sparse.h), by all ranks together.
 *
 * A x = value x for the smallest, largest or closest eigenvalues of a real symmetric, complex Hermitian or general
 * complex operator: the method of Davidson with locally optimal restarts (GD+k), or of Jacobi and Davidson (JDQR),
 * which solves a correction equation in each step by a solver of sparse.h. docs/eigen.md teaches it and says when it
 * stops.
 *
 * Collective, types, order and errors: as in sparse.h. It needs LAPACK at run time, which it loads: libopenblas.so.0 or
 * liblapack.so.3. Results: the same bits in every run with as many ranks, if rank 0 has the same kind of processor.
 */
#ifndef HIROBA_EIGEN_H
#define HIROBA_EIGEN_H

#include "sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The part of the spectrum. Smallest and largest: for general operators by the real part. Closest: to the target. */
enum { HIROBA_SMALLEST, HIROBA_LARGEST, HIROBA_CLOSEST, HIROBA_LARGEST_MAGNITUDE };

/* Settings; a field that is 0 has the default given here. */
typedef struct hiroba_eigen {
  int count; /* pairs; 0: 1 */
  int part;
  double target[2]; /* real and imaginary part */
  int general;      /* 1: the operator need not be Hermitian; it has complex numbers */
  /* 1: harmonic Ritz vectors, for HIROBA_CLOSEST with a target inside the spectrum */
  int harmonic;
  hiroba_linop preconditioner; /* near to the inverse of A, or of A - target; or none */
  /* The method that solves the correction equation, until its residual is `relative` of the first one (0: 0.1), with
   * at most `most` iterations (0: 20); other fields are ignored. NULL: a step is the residual, after the
   * preconditioner. */
  const hiroba_solver* correction;
  /* Stops when |A x - value x| <= max(absolute, relative |A|) for |x| = 1 of all pairs, where |A| is estimated from the
   * search space. Both 0: relative 1e-12, in single precision 1e-5. */
  double absolute, relative;
  int64_t most;       /* steps; 0: 100,000 */
  int space, restart; /* vectors of the search space, and those kept at a restart; 0: 30 and 12 */
  uint64_t seed;      /* of the random first vectors */
  /* Called by all ranks after each step, with the same numbers: steps, products with A, pairs found, the value that
   * is improved (real and imaginary part), and its |A x - value x|; a result other than 0 stops. */
  int (*progress)(int64_t steps, int64_t products, int found, const double value[2], double residual, void* context);
  void* context;
  int may_fail; /* 1: returns without convergence, which otherwise ends the job with a message that gives the reason */
} hiroba_eigen;

typedef struct hiroba_eigen_result {
  int status; /* HIROBA_CONVERGED, HIROBA_TOO_MANY, HIROBA_STOPPED or HIROBA_STAGNATED */
  int count;  /* of the pairs below: those wanted, or found so far */
  int64_t steps, products;
  double goal; /* the limit for residuals */
} hiroba_eigen_result;

/* values[i]: the eigenvalues, best first, doubles, or for a general operator pairs of them (real and imaginary
 * part). residuals[i]: |A x - value x|, computed from x at the end. vectors[i]: shared vectors of
 * hiroba_linop_vector for the eigenvectors x, of norm 1; orthonormal for a Hermitian operator. residuals and vectors
 * may be NULL. */
hiroba_eigen_result hiroba_eigenpairs(hiroba_linop a, const hiroba_eigen* how, double values[], double residuals[],
                                      void* const vectors[]);

#ifndef HIROBA_NO_PLACES
#define hiroba_eigenpairs(...) HIROBA_HERE(hiroba_eigenpairs(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
