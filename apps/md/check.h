/* check.h: what --verify of md computes. Collective: md_check. */
#ifndef MD_CHECK_H
#define MD_CHECK_H

#include "md.h"

enum { MD_REPEATED = 2500, MD_FIGURES = 6 };

/* Up to this time paths are compared: a difference of rounding errors grows by 10 in 0.7 or so, because particles
 * collide. */
#define MD_COMPARED 2.0

/* Particle i at the start. */
void md_start(const md* m, int i, double x[3], double v[3]);

/* The largest error, as part of its limit; and the figures that it found. */
double md_check(const md* m, tiled_figure found[MD_FIGURES]);

#endif
