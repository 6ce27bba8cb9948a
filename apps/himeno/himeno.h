/* himeno.h: the Himeno benchmark, but for its kernel and what its ranks tell each other: Poisson's equation in
 * generalised coordinates by Jacobi's method, 19 points, in single precision. Options, the check and the report.
 *
 * The pressure p of rows x columns x depth points is computed anew inside its rim, from coefficients in eleven other
 * arrays. Each variant has its arrays and its kernel; all compute the same bits. Collective: all functions but the
 * inline ones. */
#ifndef HIMENO_H
#define HIMENO_H

#include <stddef.h>

#include "../common/bits.h"
#include "../common/run.h"

typedef struct himeno {
  team team;
  run run;
  const char* size; /* --size: XS, S, M or L */
  int steps;
  bool verify, json, help;
  int rows, columns, depth;
} himeno;

#define HIMENO_OMEGA 0.8f

/* Reads the command line. */
void himeno_begin(himeno* h, team team, int argc, char** argv);

/* The pressure of a row's points at the start. */
static inline float himeno_start(const himeno* h, int i) {
  return (float)(i * i) / (float)((h->rows - 2) * (h->rows - 2));
}

/* The part of a point in the sum over the bits of the pressure. */
static inline uint64_t himeno_bits(const himeno* h, int i, int j, int k, float p) {
  return bits_of(((uint64_t)i * (uint64_t)h->columns + (uint64_t)j) * (uint64_t)h->depth + (uint64_t)k, &p, sizeof p);
}

/* After run_stop: gosa is the sum of the squares of the last changes, of all ranks; bits those of this rank's points.
 * Checks, reports and leaves the team; returns the exit status. */
int himeno_finish(himeno* h, double gosa, uint64_t bits);

#endif
