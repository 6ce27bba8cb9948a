/* check.h: what --verify of nbody does; private to common.c and check.c. */
#ifndef NBODY_CHECK_H
#define NBODY_CHECK_H

#include "nbody.h"

typedef struct body {
  double x[3], v[3], mass;
} body;

/* Body i at the start; the same in float and in double. */
body nbody_first_place(const nbody* n, int i);

/* Number d of body i in an array with three numbers for each body. */
double nbody_number(const nbody* n, const void* array, int i, int d);

/* The energy of two bodies, whose largest deviation is kept. */
typedef struct orbit {
  double first, worst;
} orbit;

/* After `step` steps. Collective. */
void orbit_add(orbit* o, const nbody* n, int step);

/* What it found; a NULL name ends the list. */
enum { NBODY_FIGURES = 4 };

/* The largest error as a part of its limit. Collective. */
double nbody_check(const nbody* n, const orbit* o, tiled_figure found[NBODY_FIGURES]);

#endif
