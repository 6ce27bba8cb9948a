/* stencil27.h: the 27-point stencil of the mSMS paper, several time steps at once ("temporal blocking").
 *
 * Two parts: block.c computes, from planes in ordinary memory, and knows no ranks; the variants bring each rank the
 * planes that it needs of others, and know nothing of the stencil but its depth. apps/common/stencil.h has what is
 * around both: options, start, files, verification.
 *
 * In what follows a field is a pointer such that plane z of the box begins at field + z * plane_points, for those z
 * that the rank can reach; 0 and nz + 1 are the boundary. */
#ifndef STENCIL27_STENCIL27_H
#define STENCIL27_STENCIL27_H

#include "../common/stencil.h"

typedef struct stencil27 {
  job job; /* first: see apps/common/stencil.h */
  /* options */
  int depth;            /* steps at once */
  int block_z, block_y; /* planes and rows that a thread computes at a time */
  int devices;          /* stencil27_device: slabs of a rank, each of which a stream of a device computes */
  /* of block.c */
  double** scratch; /* by thread */
} stencil27;

/* Reads the command line, and makes room for block.c. Collective, as job_begin. */
void stencil27_begin(stencil27* s, const char* program, team team, int argc, char** argv);

/* As job_finish, with the depth and the blocks in the report; `counters` as there, at most STENCIL27_COUNTERS. */
enum { STENCIL27_COUNTERS = 12 };
int stencil27_finish(stencil27* s, const double* field, const counter counters[]);

/* ---- block.c: computes; not collective, does not block ---------------------------------------------------------- */

/* Makes `to` what `from` is after `steps` steps, in the planes [z0, z1), which are inside of the box; steps is at most
 * `depth`. It reads the planes [z0 - steps, z1 + steps) of `from` that the box has, and writes no others of `to`; what
 * is between lies in private memory. The bits do not depend on how a box is divided into calls, blocks and threads. */
void advance(const stencil27* s, const double* from, double* to, int steps, int z0, int z1);

/* All planes of this rank in two calls: first those at its ends, which other ranks read (`depth` planes beside each
 * neighbour), then those inside, for which it reads no plane of another rank. */
void advance_ends(const stencil27* s, const double* from, double* to, int steps);
void advance_inside(const stencil27* s, const double* from, double* to, int steps);

/* The scratch memory of a thread, in bytes. */
size_t scratch_bytes(const stencil27* s);

#endif
