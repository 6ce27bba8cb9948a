/* kernel.h: the force of one strip of bodies on another, and the move of a strip by its forces, in float and in double:
 * nbody_force_float, nbody_force_double, nbody_move_float, nbody_move_double. Private; nothing blocks. For C and C++.
 */
#ifndef NBODY_KERNEL_H
#define NBODY_KERNEL_H

#include <math.h>
#include <stdbool.h>

enum { NBODY_LANES = 16 }; /* targets at a time: their positions and forces stay in registers */

#define REAL float
#define ROOT sqrtf
#define KIND(name) name##_float
#include "kernel.inc"
#undef REAL
#undef ROOT
#undef KIND

#define REAL double
#define ROOT sqrt
#define KIND(name) name##_double
#include "kernel.inc"
#undef REAL
#undef ROOT
#undef KIND

#endif
