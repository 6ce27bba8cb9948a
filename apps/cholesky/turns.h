/* turns.h: the rank of a tile where rows and columns of tiles go to ranks to and fro: 0, 1, .. ranks-1, ranks-1, .. 1,
 * 0. Round and round, the last rank would have the most work of each turn. For C and C++. */
#ifndef CHOLESKY_TURNS_H
#define CHOLESKY_TURNS_H

#include "cholesky.h"

/* Of row or column i of the tiles; each of them has one of every `ranks` in sequence. */
static inline int turns_of(int i, int ranks) {
  const int place = i % (2 * ranks);
  return place < ranks ? place : 2 * ranks - 1 - place;
}

/* For cholesky_program. */
static inline int turns_rank(const cholesky* c, int i, int j) {
  return turns_of(i, c->rows) * c->columns + turns_of(j, c->columns);
}

#endif
