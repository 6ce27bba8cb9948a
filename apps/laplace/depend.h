/* depend.h: what the tasks of laplace depend on: for each tile of each field one byte, whose address stands for the
 * tile; and around them one byte for each part of the layer that a neighbour sends. (The paper names the first element
 * of the tile; where a neighbour's points arrive it names the tile beside them, which then cannot be sent at the same
 * time.) Private to the process. */
#ifndef LAPLACE_DEPEND_H
#define LAPLACE_DEPEND_H

#include <stdlib.h>

#include "laplace.h"

typedef struct depend {
  char* bytes;
  ptrdiff_t row, field; /* from a row of tiles to the next, and from a field to the other */
} depend;

static inline void depend_open(depend* d, const laplace* l) {
  d->row = l->tiles[1] + 2;
  d->field = (l->tiles[0] + 2) * d->row;
  d->bytes = calloc((size_t)(2 * d->field), 1);
  team_agree(&l->run.team, d->bytes != NULL, TEAM_BAD_INPUT,
             "no memory for a list of %d x %d tiles; use a larger --tile", l->tiles[0], l->tiles[1]);
}

static inline void depend_close(depend* d) { free(d->bytes); }

/* Of the field that step `step` reads. Tiles -1 and, in a direction, tiles[direction] are the neighbours' layer. */
static inline char* depend_tile(const depend* d, int step, int ti, int tj) {
  return d->bytes + step % 2 * d->field + (ti + 1) * d->row + tj + 1;
}

#endif
