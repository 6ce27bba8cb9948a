/* nbody.h: bodies that attract each other, all of them all others, step by step. What all variants share: the options,
 * the strips of each rank, the kernels (kernel.h), the check, the report.
 *
 * The bodies are divided into strips of --tile bodies, of which the last may be smaller; the strips among the ranks.
 * Step t reads the positions[t % 2] of all strips, adds up the forces on its own ones over all strips in their order,
 * and moves its own ones to positions[(t + 1) % 2], from where the other ranks take them. As two sets of positions swap
 * their roles, nobody waits for those who still read the old ones. The answer has the same bits for all numbers of
 * ranks and threads, and for all strips.
 *
 * Of positions, velocities and forces strip s begins at element 3 * s * --tile: x of its bodies, then y, then z.
 *
 * Collective: all functions but the inline ones. For C and C++. */
#ifndef NBODY_H
#define NBODY_H

#include <stddef.h>

#include "../common/tiled.h"
#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NBODY_CALC, NBODY_UPDATE, NBODY_COMM }; /* categories of the split */

typedef struct nbody {
  tiled run;
  const char *start, *kind; /* --start, --kind */
  int orbits, seed;
  bool floats; /* --kind float */
  bool kepler; /* --start kepler */
  double gravity, step;
  int strips, first, end; /* of all ranks; of this rank: [first, end) */
  void *position[2], *velocity, *force, *mass;
  /* NULL, or allocates all of these but the masses, as one memory for all ranks, whenever the strips are new. */
  void (*share)(struct nbody* n);
} nbody;

/* Reads the command line. */
void nbody_begin(nbody* n, team team, int threads, int argc, char** argv);

/* Private memory for all bodies; with `share`, for their masses only. nbody_run frees it. */
void nbody_private(nbody* n);

/* Chooses the strips, sets the start, computes all steps with `steps`, checks, reports, and leaves the team. Returns
 * the exit status. */
int nbody_run(nbody* n, tiled_steps steps);

/* Shares of equal size, of which the last may be smaller or empty: as sms.h divides an array. */
static inline int nbody_first_strip(const nbody* n, int rank) {
  const long long share = (n->strips - 1) / n->run.team.count + 1;
  return (int)(share * rank < n->strips ? share * rank : n->strips);
}

static inline int nbody_strip_bodies(const nbody* n, int strip) {
  return smaller(n->run.tile.rows, n->run.size - strip * n->run.tile.rows);
}

/* Where strip `strip` begins in an array with three numbers for each body. */
static inline void* nbody_strip(const nbody* n, void* array, int strip) {
  const ptrdiff_t at = 3 * (ptrdiff_t)strip * n->run.tile.rows;
  return (char*)array + at * (ptrdiff_t)(n->floats ? sizeof(float) : sizeof(double));
}

static inline void* nbody_strip_mass(const nbody* n, int strip) {
  const ptrdiff_t at = (ptrdiff_t)strip * n->run.tile.rows;
  return (char*)n->mass + at * (ptrdiff_t)(n->floats ? sizeof(float) : sizeof(double));
}

/* The forces of strip `source`, whose bodies are at `of`, on strip `target` at `at`, by thread `thread`. */
static inline void nbody_attract(nbody* n, void* force, const void* at, const void* of, int target, int source,
                                 int thread) {
  const double start = team_now();
  const int targets = nbody_strip_bodies(n, target), sources = nbody_strip_bodies(n, source);
  const void *const mass = nbody_strip_mass(n, target), *const source_mass = nbody_strip_mass(n, source);
  if (n->floats)
    nbody_force_float((float*)force, (const float*)at, (const float*)mass, targets, (const float*)of,
                      (const float*)source_mass, sources, (float)n->gravity);
  else
    nbody_force_double((double*)force, (const double*)at, (const double*)mass, targets, (const double*)of,
                       (const double*)source_mass, sources, n->gravity);
  split_add(&n->run.split, thread, NBODY_CALC, start);
}

/* The end of step `step` for strip `strip`, of which all forces are there, by thread `thread`. */
static inline void nbody_advance(nbody* n, void* to, const void* at, void* velocity, void* force, int step, int strip,
                                 int thread) {
  const double start = team_now(), kick = step == 0 ? n->step / 2 : n->step;
  const int bodies = nbody_strip_bodies(n, strip);
  const void* const mass = nbody_strip_mass(n, strip);
  if (n->floats)
    nbody_move_float((float*)to, (const float*)at, (float*)velocity, (float*)force, (const float*)mass, bodies,
                     (float)n->step, (float)kick, true);
  else
    nbody_move_double((double*)to, (const double*)at, (double*)velocity, (double*)force, (const double*)mass, bodies,
                      n->step, kick, false);
  split_add(&n->run.split, thread, NBODY_UPDATE, start);
}

/* Both for step `step`, which says where places are. */
static inline void nbody_force(nbody* n, int step, int target, int source, int thread) {
  void* const now = n->position[step % 2];
  nbody_attract(n, nbody_strip(n, n->force, target), nbody_strip(n, now, target), nbody_strip(n, now, source), target,
                source, thread);
}
static inline void nbody_move(nbody* n, int step, int strip, int thread) {
  nbody_advance(n, nbody_strip(n, n->position[(step + 1) % 2], strip), nbody_strip(n, n->position[step % 2], strip),
                nbody_strip(n, n->velocity, strip), nbody_strip(n, n->force, strip), step, strip, thread);
}

#ifdef __cplusplus
}
#endif

#endif
