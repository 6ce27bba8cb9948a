/* cholesky.h: what the Cholesky programs share, so that they differ only in who computes which tile when: options, the
 * matrix, the four steps of the algorithm, the check and the report. C and C++.
 *
 * The matrix has n x n numbers in tiles of `tile` x `tile`; those at the end may be smaller. Only the lower triangle of
 * tiles (i, j), i >= j, is stored, each tile column by column. A rank of a grid of rows x columns has the tiles
 * (i, j) for which i % rows and j % columns are its own coordinates.
 *
 * Collective, called by all ranks (one thread of each), blocking: cholesky_begin, cholesky_private, cholesky_run. The
 * steps are local, and may be called by many threads on different tiles. Errors of the user's end the program here. */
#ifndef CHOLESKY_CHOLESKY_H
#define CHOLESKY_CHOLESKY_H

#include <stddef.h>

#include "../common/tiled.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cholesky cholesky;

/* What a program adds. */
typedef struct cholesky_program {
  const char* name;
  bool whole; /* the tiles are parts of one matrix in columns, and of no influence on the time */
  /* Memory for the tiles (cholesky_private, or `at` filled in), and what else depends on their size. `close` frees what
   * it owns. With --tile auto both are called for each candidate. */
  void (*open)(cholesky* c);
  void (*close)(cholesky* c);
  /* Returns when this rank has done its part. */
  void (*factor)(cholesky* c);
  /* Gives all ranks the tiles (i, k), i >= k, of the factor, for the check: tile[i], until the next call. Collective;
   * NULL: each rank reaches all tiles by `at`. */
  void (*panel)(cholesky* c, int k, const double* tile[]);
  /* The number of the calling thread, from 0; NULL: there is one thread. */
  int (*thread)(void);
  /* The rank that has tile (i, j); NULL: as said above. */
  int (*rank)(const cholesky* c, int i, int j);
} cholesky_program;

enum { CHOLESKY_POTRF, CHOLESKY_TRSM, CHOLESKY_SYRK, CHOLESKY_GEMM, CHOLESKY_COMM }; /* the categories of the split */

struct cholesky {
  tiled run; /* a step is a factorisation */
  const cholesky_program* program;
  void* own;         /* of the program */
  int n, indefinite; /* --size (less in trials) and --indefinite */
  int rows, columns; /* the grid of ranks */
  /* the layout */
  int tile, tiles; /* numbers in a row of a tile; tiles in a row of the matrix */
  double** at;     /* tile (i, j) at i + j * tiles; NULL: another rank has it, and this one cannot reach it */
  double* memory;  /* of cholesky_private */
  /* state */
  int info;             /* 0, or the order of a leading minor that is not positive */
  double seconds, best; /* of all factorisations, and of the fastest */
};

/* Reads the command line. */
void cholesky_begin(cholesky* c, const cholesky_program* program, team team, int argc, char** argv);

/* Memory for the tiles of this rank, for `open`. cholesky_run frees it. */
void cholesky_private(cholesky* c);

/* Factorises --steps times, verifies, prints the report, leaves the team. Returns the exit status. */
int cholesky_run(cholesky* c);

/* ---- where tiles are --------------------------------------------------------------------------------------------- */

static inline int cholesky_rank(const cholesky* c, int i, int j) {
  return c->program->rank != NULL ? c->program->rank(c, i, j) : i % c->rows * c->columns + j % c->columns;
}

static inline bool cholesky_mine(const cholesky* c, int i, int j) { return cholesky_rank(c, i, j) == c->run.team.rank; }

static inline double* cholesky_tile(const cholesky* c, int i, int j) {
  return c->at[(size_t)i + (size_t)j * (size_t)c->tiles];
}

/* The rows of a tile (i, ...), or the columns of a tile (..., i). */
static inline int cholesky_extent(const cholesky* c, int i) { return smaller(c->tile, c->n - i * c->tile); }

static inline int cholesky_lead(const cholesky* c, int i) { return c->program->whole ? c->n : cholesky_extent(c, i); }

static inline size_t cholesky_numbers(const cholesky* c, int i, int j) {
  return (size_t)cholesky_extent(c, i) * (size_t)cholesky_extent(c, j);
}

/* ---- the four steps ---------------------------------------------------------------------------------------------- */

/* Where the matrix has turned out not to be positive definite, they return at once, so that a program takes its usual
 * way to the end whatever the matrix is. Tiles of other ranks are given as copies in the same layout. */

void cholesky_potrf(cholesky* c, int k);                               /* tile (k, k) */
void cholesky_trsm(cholesky* c, int i, int k, const double* diagonal); /* tile (i, k), with tile (k, k) */
/* Tile (i, j), by syrk if i is j, else by gemm, with the tiles left = (i, k) and right = (j, k). */
void cholesky_update(cholesky* c, int i, int j, int k, const double* left, const double* right);

/* For what a program does beside the steps: adds the time since `since` (team_now) to a category, and returns the time
 * now. */
double cholesky_spent(cholesky* c, int category, double since);

/* The `index`-th of the tiles (i, j) with first <= j <= i, column by column. For loops whose iterations are divided
 * evenly. */
int cholesky_triangle(const cholesky* c, int first); /* how many there are */
void cholesky_at_index(const cholesky* c, int first, int index, int* i, int* j);

/* ---- matrix.c ---------------------------------------------------------------------------------------------------- */

/* Tile (i, j) of the matrix to factorise. */
void matrix_fill(const cholesky* c, int i, int j, double* tile, int lead);

/* ||A - L L^T|| / (n ||A|| eps) in the 1-norm: LAPACK's test. Collective; takes as long as the factorisation. */
double matrix_residual(cholesky* c);

/* The logarithm of the determinant, from the factor. Collective. */
double matrix_logdet(const cholesky* c);

#ifdef __cplusplus
}
#endif

#endif
