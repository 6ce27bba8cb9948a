/* slabs.h: a transform of a cube by several parts (parts.h). A part has the planes of some z of the input, and the
 * planes of the same numbers of y of the output.
 *
 * Each part transforms its planes in x and y, and puts them by destination into `staged`, where they are contiguous for
 * those who take them; all wait; each part takes what the others have for its y, and transforms it in z; all wait. So
 * the cube is transposed by reading shared memory.
 *
 * The shared arrays belong to the caller; a part writes only its own share of each. slabs_transform blocks in
 * parts.wait; slabs_plan is for one thread at a time, as FFTW's planner is. */
#ifndef FFT3D_SLABS_H
#define FFT3D_SLABS_H

#include "../common/parts.h"
#include "fft3d.h"

typedef struct slabs {
  struct parts parts;
  int n, share; /* planes of all, of a part (the last ones fewer, or none) */
  size_t pitch; /* numbers from one plane to the next: whole pages */
  size_t part;  /* numbers of a part of each array: share * pitch */
  const fftw_complex* input;
  fftw_complex *staged, *output;
} slabs;

/* All but the arrays. */
slabs slabs_shape(const fft3d* f, parts parts);

static inline int slabs_first(const slabs* s, int part) { return (int)parts_first(s->n, s->share, part); }

/* What a part has for itself. */
typedef struct slabs_own {
  fftw_complex* plane;
  fftw_plan planes, columns;
} slabs_own;

/* Planning changes no array. False if FFTW or memory is at its end. slabs_close frees, also then. */
bool slabs_plan(slabs_own* own, const slabs* s, const fft3d* f);
void slabs_close(slabs_own* own);

/* Called by all parts. At its return the output of all is complete. */
void slabs_transform(const slabs* s, const slabs_own* own, int part, split* split, int thread);

#endif
