/* cg.h: Conjugate Gradient, but for what its ranks say to each other: the matrix, who has which part of it, the sparse
 * product, and verification.
 *
 * The smallest eigenvalue of a sparse symmetric matrix, by inverse iteration with 25 steps of conjugate gradients each.
 * Ranks form a grid, as in the NPB: rows x cols, cols = rows or 2 rows, both powers of two. A rank has a block of the
 * matrix, and of each vector the part that its columns meet. What is local is here; how sums
 * get from rank to rank is the program's.
 */
#ifndef NPB_CG_H
#define NPB_CG_H

#include "../npb.h"

enum { CG_STEPS = 25 };

/* What the program gives. Both are collective.
 * sum: adds up `mine` over the ranks of this row.
 * exchange: adds up job->w, this rank's contributions to its rows, over the ranks of this row, and returns the sums for
 * the rows that are this rank's columns, which another rank has; in q, which has room for
 * most_height elements, or elsewhere, until the next call of sum. */
typedef struct cg_job cg_job;
typedef double cg_sum(const cg_job* job, double mine);
typedef const double* cg_exchange(const cg_job* job, double* q);

struct cg_job {
  cg_sum* sum;
  cg_exchange* exchange;
  double* w; /* given by the program, too: room for most_height elements */

  const npb* n;
  int order, nonzeroes, iterations; /* of the class */
  double shift, expected;
  /* The grid, and this rank's place in it. */
  int me, rows, cols, row, col, doublings; /* cols = 2^doublings */
  int transpose;                           /* the rank that has this rank's columns as rows, and summed */
  int first_row, height, most_height;      /* this rank's block of the matrix; the largest height of any */
  int first_col, width;
  /* What this rank sums over the ranks of its row: all of its rows, or with cols = 2 rows the half of them that it will
   * pass on. The ranks 1, 2, 4, ... columns away do their part. */
  int part, part_length, transpose_part; /* the last: where the transposed rank's part begins */
  /* The block, row by row: elements [start[i], start[i + 1]), whose columns count from first_col. */
  int *start, *column;
  double* value;
};

/* The job of this rank for n->class, matrix made. Refuses numbers of ranks that are no power of two. */
cg_job cg_begin(npb* n, cg_sum* sum, cg_exchange* exchange);

/* The rank of this row that is 2^step columns away. */
static inline int cg_partner(const cg_job* job, int step) { return job->row * job->cols + (job->col ^ 1 << step); }

/* The rows whose sums that rank lacks in that step: at first, with cols = 2 rows, those that are its part, else mine.
 */
typedef struct cg_rows {
  int first, count;
} cg_rows;
static inline cg_rows cg_lacks(const cg_job* job, int step) {
  if (step > 0 || job->rows == job->cols) return (cg_rows){job->part, job->part_length};
  return (cg_rows){job->part == 0 ? job->part_length : 0, job->height - job->part_length};
}

/* Iterates, on the clock, verifies and reports. Returns the exit status. Collective. */
int cg_run(cg_job* job, npb* n);

/* For a program that divides the matrix and iterates by itself: the job without a matrix; that with all columns of the
 * rows [first, first + height), of which ranks have at most `most`; a line for each pass, of which the first, 0, is to
 * warm up; and the end. */
cg_job cg_of_class(const npb* n);
void cg_take_rows(cg_job* job, npb* n, int first, int height, int most);
void cg_report(const npb* n, int pass, double residual, double zeta);
int cg_finish(const cg_job* job, npb* n, double zeta);

#endif
