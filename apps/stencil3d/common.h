/* common.h: what the four stencil programs share, so that they differ only in how memory is shared: options, the
 * initial field and its exact solution, checkpoints, output, progress and the report.
 *
 * The field has (nz+2) x (ny+2) x (nx+2) points: nz x ny x nx that are computed, inside one layer of boundary points
 * that keep their value (Dirichlet). With N computed points a sine mode vanishes on the boundary and decays by the
 * same factor in every step, which is what --verify checks. In memory a point (z, y, x) lies at z * plane_points +
 * y * (nx + 2) + x.
 *
 * Who owns what: a variant allocates the two fields and passes the planes of this rank; strings belong to argv.
 * Collective: every function named job_* is called by all ranks of the program (one thread of each), and may block
 * in team.max. Errors of the user's end the program here, with one message.
 */
#ifndef STENCIL3D_COMMON_H
#define STENCIL3D_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/run.h"
#include "../common/team.h"

/* Blocks of BLOCK_Z planes by BLOCK_Y rows: 3 planes of a block stay in the cache while the block is computed, and
 * rows are long runs of memory. Smaller blocks in y lose more by breaking the hardware's prefetch than they win. */
enum { BLOCK_Z = 4, BLOCK_Y = 256 };

typedef struct job {
  team team;
  run run;
  int threads;
  /* options */
  int size[3]; /* --size; then nx, ny, nz */
  int nx, ny, nz;
  int steps, every;
  bool verify, json, preload, help;
  const char *checkpoint, *restart, *output, *slice;
  /* the part of this rank: planes [first, last) of nz+2, by the rule of sms_mapalloc; of these it computes [lo, hi).
   * A rank may own nothing. */
  int first, last, lo, hi;
  ptrdiff_t plane_points; /* from a plane to the next: planes begin at pages, so that no two slabs share one */
  /* state */
  int step; /* steps done when the loop starts */
  double *sine_x, *sine_y, *sine_z;
  void* fields[2]; /* those of job_private */
} job;

/* Reads the command line, opens the restart file, checks what can be checked before hours of computing. */
void job_begin(job* job, const char* program, team team, int argc, char** argv);

/* `planes` planes of private memory, untouched, so that the threads that fill it place it. Ends the program if there
 * is not as much. For two fields; job_finish frees them. */
void* job_private(job* job, int planes);

/* Gives both fields the values of the start (or of the restart file), boundary included, in the planes of this rank;
 * a and b point to the first of them. */
void job_fill(const job* job, double* a, double* b);

/* Starts the clock. */
void job_start(job* job);

/* After a step: progress, and a checkpoint if one is due. `step` steps are done; `field` as in job_fill. Returns false
 * if the run is to end now, because the user wants it. */
bool job_step(job* job, int step, const double* field);

/* Stops the clock, after the last step. */
void job_stop(job* job);

/* Verifies, writes the output, prints the report (with the counters, a list that ends with a NULL name; or NULL),
 * leaves the team. Returns the exit status. */
int job_finish(job* job, const double* field, const counter counters[]);

#endif
