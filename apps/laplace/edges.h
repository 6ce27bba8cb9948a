/* edges.h: the points that a rank sends to its neighbours and receives from them, over MPI, in whole or by tiles.
 * Private to the process, but for what the MPI calls of the variants send. */
#ifndef LAPLACE_EDGES_H
#define LAPLACE_EDGES_H

#include "../common/mpi_team.h"
#include "laplace.h"

static inline int opposite(int direction) { return direction ^ 1; }

/* In a field: `length` points along the edge, from the first one at `along`; `mine`: those of the block beside the
 * edge, otherwise those of the layer beyond it. */
static inline double* edge_at(const laplace* l, int field, int direction, int along, bool mine) {
  const bool low = direction == UP || direction == LEFT, row = direction == UP || direction == DOWN;
  const int across = low ? mine - 1 : l->extent[row ? 0 : 1] - mine;
  return l->field[field] + (row ? across * l->pitch + along : along * l->pitch + across);
}

/* The type of `length` points along an edge; for MPI_Type_free. */
static inline MPI_Datatype edge_type(const laplace* l, int direction, int length) {
  MPI_Datatype type;
  if (direction == UP || direction == DOWN) MPI_Type_contiguous(length, MPI_DOUBLE, &type);
  else MPI_Type_vector(length, 1, (int)l->pitch, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

#endif
