/* sparse.h: sparse matrices and iterative solvers on vectors in shared arrays, by all ranks together.
 *
 * A linear operator (hiroba_linop) is a square sparse matrix, a preconditioner, or a function of the program. Its rows
 * are divided over the ranks, each of which has consecutive ones, and so are the elements of its vectors: shared arrays
 * of hiroba_linop_vector, in which x[i] is element i, and which blas.h accepts as any other. docs/sparse.md teaches
 * them.
 *
 * Collective: all ranks make the call, in the same order with the same arguments (but for the triplets that each has),
 * by one thread each, while no other thread of the rank touches shared memory, and without tasks under way.
 * Types: HIROBA_FLOAT, HIROBA_DOUBLE, HIROBA_FLOAT_COMPLEX, HIROBA_DOUBLE_COMPLEX; all operands of a call have that of
 * the operator. Indices begin with 0. OMP_NUM_THREADS (hirobarun --threads) is the number of threads of a rank.
 * Order: as in blas.h. Each rank computes the elements that it owns; the call itself moves the elements of others that
 * it needs. So a rank may use its own elements directly after a call, and needs an sms_barrier before it reads or
 * writes elements of others. Results: the same bits in every run with the same number of ranks on processors of the
 * same kind. Errors: misuse ends the job with one message.
 */
#ifndef HIROBA_SPARSE_H
#define HIROBA_SPARSE_H

#include <stdint.h>
#include "collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- operators ---------------------------------------------------------------------------------------------- */

typedef struct hiroba_linop_part* hiroba_linop;
#define HIROBA_NO_LINOP ((hiroba_linop)0)

/* Flags for the format and the properties of a matrix; values are added. Without a format the library chooses SELL
 * unless that would add many zeros. Declared symmetry is checked, and an entry that violates it is an error; with
 * HIROBA_ONE_TRIANGLE the entries are those of one triangle with the diagonal, and the others follow. */
enum { HIROBA_CSR = 1, HIROBA_SELL = 2, HIROBA_SYMMETRIC = 4, HIROBA_HERMITIAN = 8, HIROBA_ONE_TRIANGLE = 16 };

/* A Matrix Market file ("coordinate"), of which each rank reads a part. An entry that the file has twice is the sum. */
hiroba_linop hiroba_linop_read(const char* path, hiroba_type type, int flags);
/* n rows and columns. Each rank gives `count` entries, of any rows; those at the same place are added. */
hiroba_linop hiroba_linop_from_triplets(hiroba_type type, int64_t n, int64_t count, const int64_t rows[],
                                        const int64_t columns[], const void* values, int flags);
/* Row i has the entries that row(i, ..) writes, in any order; it returns their number, at most `most`. Each rank
 * calls it for its rows, from one thread. */
hiroba_linop hiroba_linop_from_rows(hiroba_type type, int64_t n, int64_t most,
                                    int64_t (*row)(int64_t i, int64_t columns[], void* values, void* context),
                                    void* context, int flags);
/* apply(x, y, context) computes y = A x, on shared vectors distributed as hiroba_linop_vector's. All ranks call it
 * together, after a barrier; on return each has computed the elements of y that it owns. It must not change x. Rows
 * are divided as those of `like`, or equally with HIROBA_NO_LINOP. */
hiroba_linop hiroba_linop_from_function(hiroba_type type, int64_t n,
                                        void (*apply)(const void* x, void* y, void* context), void* context,
                                        hiroba_linop like);
/* Sets it to HIROBA_NO_LINOP. Vectors stay. */
void hiroba_linop_free(hiroba_linop* a);

typedef struct hiroba_linop_facts {
  hiroba_type type;
  int64_t rows;
  int64_t first, count; /* the rows of this rank */
  /* For matrices: entries; entries that this rank stores, with the zeros of SELL; elements of others that it gets in
   * each product; HIROBA_CSR or HIROBA_SELL, for the columns of this rank. */
  int64_t entries, stored, fetched;
  int format;
} hiroba_linop_facts;
/* Not collective. */
hiroba_linop_facts hiroba_linop_look(hiroba_linop a);

/* Returns a vector of zeros for it: a shared array of its rows' distribution, which sms_free frees. */
void* hiroba_linop_vector(hiroba_linop a);
/* y = A x */
void hiroba_linop_apply(hiroba_linop a, const void* x, void* y);

/* ---- preconditioners: operators near to the inverse of a matrix ----------------------------------------------- */

/* The inverse of the diagonal. */
hiroba_linop hiroba_linop_jacobi(hiroba_linop matrix);
/* Incomplete factors L U of each rank's rows and columns, without fill-in, Hermitian for a Hermitian matrix. relax,
 * 0 to 1: the share of the fill-in that is added to the diagonal, and 0.8 relax of entries in columns of other
 * ranks. 0: ILU(0). 1: MILU(0); on one rank it has the row sums of the matrix. For Laplace operators and similar
 * ones 0.99 saves half of the iterations and more; other matrices may lose by it, or have no such factors. */
hiroba_linop hiroba_linop_ilu(hiroba_linop matrix, double relax);
/* A polynomial in D^-1 A of that degree, which is small for eigenvalues between low and high; D is the diagonal of
 * A, which is positive definite. high 0: from an estimate; low 0: high / 30. Free the matrix after it. */
hiroba_linop hiroba_linop_chebyshev(hiroba_linop matrix, int degree, double low, double high);

/* ---- solvers ------------------------------------------------------------------------------------------------ */

/* CG and pipelined CG (one reduction per iteration, during the product): Hermitian positive definite matrices. MINRES:
 * Hermitian ones. BiCGSTAB and GMRES: any. */
enum { HIROBA_CG, HIROBA_PIPELINED_CG, HIROBA_BICGSTAB, HIROBA_GMRES, HIROBA_MINRES };

/* Settings; a field that is 0 has the default given here. */
typedef struct hiroba_solver {
  int method;
  hiroba_linop preconditioner; /* for CG, pipelined CG and MINRES a Hermitian positive definite one */
  /* Stops when |b - A x| <= max(relative |b|, absolute), in the Euclidean norm. Both 0: relative 1e-8, in single
   * precision 1e-5. */
  double relative, absolute;
  int64_t most; /* iterations; 0: 10,000 */
  int restart;  /* of GMRES, after that many vectors; 0: 30 */
  /* Called by all ranks after each iteration, with the same residual norm; a result other than 0 on any of them
   * stops. It costs one more reduction. */
  int (*progress)(int64_t iteration, double residual, void* context);
  void* context;
  /* Room for residual norms, at the start and after each iteration; those beyond `room` are dropped. */
  double* history;
  int64_t room;
  int may_fail; /* 1: returns without convergence, which otherwise ends the job with a message that gives the reason */
} hiroba_solver;

enum {
  HIROBA_CONVERGED,
  HIROBA_TOO_MANY,   /* iterations */
  HIROBA_STOPPED,    /* by the progress function */
  HIROBA_BROKE_DOWN, /* the matrix or the preconditioner does not meet the method's requirements */
  HIROBA_STAGNATED,  /* rounding errors allow no smaller residual */
  HIROBA_NOT_FINITE  /* NaN or infinity in the matrix, b, x or the preconditioner */
};
typedef struct hiroba_solution {
  int status;
  int64_t iterations, products;
  double residual; /* |b - A x|, computed from x */
  double goal;     /* the limit for the residual */
} hiroba_solution;

/* Solves A x = b. x is the initial vector, then the solution. */
hiroba_solution hiroba_solve(hiroba_linop a, const void* b, void* x, const hiroba_solver* how);

/* ---- where calls are, for messages -------------------------------------------------------------------------- */

#ifndef HIROBA_NO_PLACES
#define hiroba_linop_read(...) HIROBA_HERE(hiroba_linop_read(__VA_ARGS__))
#define hiroba_linop_from_triplets(...) HIROBA_HERE(hiroba_linop_from_triplets(__VA_ARGS__))
#define hiroba_linop_from_rows(...) HIROBA_HERE(hiroba_linop_from_rows(__VA_ARGS__))
#define hiroba_linop_from_function(...) HIROBA_HERE(hiroba_linop_from_function(__VA_ARGS__))
#define hiroba_linop_free(...) HIROBA_HERE(hiroba_linop_free(__VA_ARGS__))
#define hiroba_linop_look(...) HIROBA_HERE(hiroba_linop_look(__VA_ARGS__))
#define hiroba_linop_vector(...) HIROBA_HERE(hiroba_linop_vector(__VA_ARGS__))
#define hiroba_linop_apply(...) HIROBA_HERE(hiroba_linop_apply(__VA_ARGS__))
#define hiroba_linop_jacobi(...) HIROBA_HERE(hiroba_linop_jacobi(__VA_ARGS__))
#define hiroba_linop_ilu(...) HIROBA_HERE(hiroba_linop_ilu(__VA_ARGS__))
#define hiroba_linop_chebyshev(...) HIROBA_HERE(hiroba_linop_chebyshev(__VA_ARGS__))
#define hiroba_solve(...) HIROBA_HERE(hiroba_solve(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
