/* stencil.h: what the stencil programs of the mSMS paper have in common: options, files, start, verification and
 * report, so that the variants differ only in how memory is shared.
 *
 * Every program computes `steps` time steps of a stencil of one layer on a box of nx x ny x nz points with one layer of
 * boundary around it, whose value never changes. The start is a sine mode that the stencil multiplies by the same
 * factor in every step, which is what --verify checks, or noise. A point (z, y, x) lies at z * plane_points + y * row +
 * x + shift, of which job_at is the offset from the plane `first`.
 *
 * Who owns what: a variant allocates the two fields and passes the planes of this rank; strings belong to argv.
 * Compiled with each program, because OpenMP's threads fill the fields. Collective: every function named job_* but
 * job_at and job_depth is called by all ranks of the program (one thread of each), and may block in team.max. Errors of
 * the user's end the program here, with one message. */
#ifndef APPS_COMMON_STENCIL_H
#define APPS_COMMON_STENCIL_H

#include <stddef.h>

#include "options.h"
#include "run.h"
#include "volume.h"

/* What is different in two stencils. */
typedef struct stencil {
  const char* name;             /* of the application, in checkpoints */
  const char *about, *examples; /* for --help */
  const option* options;        /* more of them: places in the struct whose first member is the job */
  int option_count;
  int align;                                         /* alignment of the first point of each row, in points; 1: none */
  double (*factor)(double cx, double cy, double cz); /* of the mode, from cos(m_d pi / (n_d + 1)) in each direction */
} stencil;

typedef struct job {
  const stencil* stencil;
  team team;
  run run;
  int threads;
  /* options */
  int size[3]; /* --size; then nx, ny, nz */
  int nx, ny, nz;
  int steps, every, seed;
  bool verify, json, preload, help;
  const char *start, *checkpoint, *restart, *output, *slice, *volume_folder;
  /* the part of this rank: planes [first, last) of nz+2, by the rule of sms_mapalloc; of these it computes [lo, hi).
   * A rank may own nothing. */
  int first, last, lo, hi;
  int row, shift;         /* points from a row to the next; of the boundary point before a row */
  ptrdiff_t plane_points; /* from a plane to the next: planes begin at pages, so that no two slabs share one */
  /* state */
  int step; /* steps done when the loop starts */
  /* Brings the planes of this rank into its memory before they are written to a file; NULL: they are there. Set after
   * job_begin. */
  void (*fetch)(void* of, const double* field);
  void* fetch_of;
  double *sine_x, *sine_y, *sine_z;
  void* fields[2]; /* those of job_private */
  volume volume;
} job;

static inline ptrdiff_t job_at(const job* job, int z, int y, int x) {
  return (z - job->first) * job->plane_points + y * (ptrdiff_t)job->row + x + job->shift;
}

/* Reads the command line, opens the restart file, checks what can be checked before hours of computing. The struct of
 * the application begins with the job; its other members keep their values where no option sets them. */
void job_begin(job* job, const stencil* stencil, const char* program, team team, int argc, char** argv);

/* `planes` planes of private memory, untouched, so that the threads that fill it place it. Ends the program if there
 * is not as much. For two fields; job_finish frees them. */
void* job_private(job* job, int planes);

/* Gives both fields the values of the start (or of the restart file), boundary included, in the planes of this rank;
 * a and b point to the first of them. */
void job_fill(job* job, double* a, double* b);

/* Starts the clock. */
void job_start(job* job);

/* How many steps, at most `most`, a program may compute at once after `step` steps: up to the end, the next checkpoint
 * or the next snapshot. */
int job_depth(const job* job, int step, int most);

/* After `step` steps: progress, and files that are due. `field` as in job_fill. Returns false if the run is to end now,
 * because the user wants it. */
bool job_step(job* job, int step, const double* field);

/* Stops the clock, after the last step. */
void job_stop(job* job);

/* Verifies, writes the output, prints the report (with the counters, a list that ends with a NULL name; or NULL),
 * leaves the team. Returns the exit status. */
int job_finish(job* job, const double* field, const counter counters[]);

#endif
