/* depend.h: what the tasks of nbody depend on: a byte for each strip, whose address stands for its positions (two, as
 * there are two sets of them), and one for its forces and velocities. Private to the process. */
#ifndef NBODY_DEPEND_H
#define NBODY_DEPEND_H

#include <stdlib.h>

#include "nbody.h"

typedef struct depend {
  char* bytes;
  int strips;
} depend;

static inline void depend_open(depend* d, const nbody* n) {
  d->strips = n->strips;
  d->bytes = (char*)calloc((size_t)n->strips, 3);
  team_agree(&n->run.team, d->bytes != NULL, TEAM_BAD_INPUT, "no memory for a list of %d strips; use a larger --tile",
             n->strips);
}

static inline void depend_close(depend* d) { free(d->bytes); }

/* What step `step` reads. */
static inline char* depend_position(const depend* d, int step, int strip) {
  return d->bytes + (ptrdiff_t)(step % 2) * d->strips + strip;
}

static inline char* depend_force(const depend* d, int strip) { return d->bytes + (ptrdiff_t)2 * d->strips + strip; }

#endif
