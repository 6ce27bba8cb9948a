/* laplace.h: the Laplace equation on a square, by Jacobi's method: u' = (N + S + W + E) / 4, on --size x --size points
 * whose rim stays 0. What all variants share: the options, the block of each rank, the kernel, the check, the report.
 *
 * Two fields that swap their roles in every step: step t reads field[t % 2] and writes field[(t + 1) % 2]. Nothing is
 * copied, in no variant, so each point moves 24 bytes a step, where the sample of Omni that the paper uses moves 40.
 *
 * The points are divided into blocks, one for each rank, which form a grid of ranks; a block into tiles, of which those
 * at its end may be smaller. Around its block a rank has one layer of points of its neighbours. A point (i, j) of the
 * block lies at field[..][i * pitch + j]; i = -1, for example, is the layer above it.
 *
 * Collective: all functions but the inline ones. For C and C++. */
#ifndef LAPLACE_H
#define LAPLACE_H

#include <stddef.h>

#include "../common/tiled.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LAPLACE_CALC, LAPLACE_COMM }; /* categories of the split */
enum { UP, DOWN, LEFT, RIGHT, DIRECTIONS };

typedef struct laplace {
  tiled run;
  const char* start;     /* --start */
  int ranks[2];          /* the grid of ranks: rows, columns */
  int place[2];          /* of this rank in it */
  int first[2];          /* the first point of the block of this rank: row, column */
  int extent[2];         /* of the block */
  int lowest[2], end[2]; /* which points of the block are computed: all but those on the rim */
  int tiles[2];          /* in the block */
  ptrdiff_t pitch;
  double* field[2]; /* at point (0, 0) of the block */
  void* memory[2];
} laplace;

/* Reads the command line, and divides the points among the ranks. */
void laplace_begin(laplace* l, team team, int threads, int argc, char** argv);

/* Private memory for the fields. A variant may have another one: then it sets pitch, and field, of laplace_points each,
 * of which laplace_origin is (0, 0). */
void laplace_private(laplace* l);
/* For variants over shared arrays: the block is a band of whole rows, of `pitch` points each, as sms_mapalloc divides
 * rows among the ranks. */
void laplace_divide_rows(laplace* l);
size_t laplace_points(const laplace* l);
size_t laplace_origin(const laplace* l);

/* Chooses the tile, sets the start, computes all steps with `steps`, checks, reports, and leaves the team. Returns the
 * exit status. */
int laplace_run(laplace* l, tiled_steps steps);

/* The rank of the neighbour in a direction, or -1. */
static inline int laplace_neighbour(const laplace* l, int direction) {
  const int row = l->place[0] + (direction == DOWN) - (direction == UP);
  const int column = l->place[1] + (direction == RIGHT) - (direction == LEFT);
  const bool inside = row >= 0 && row < l->ranks[0] && column >= 0 && column < l->ranks[1];
  return inside ? row * l->ranks[1] + column : -1;
}

/* The kernel: one step of rows x columns points, from `from` to `to`, both with rows `pitch` apart. */
static inline void laplace_kernel(double* __restrict to, const double* __restrict from, ptrdiff_t pitch, int rows,
                                  int columns) {
  for (int i = 0; i < rows; i++, to += pitch, from += pitch)
    for (int j = 0; j < columns; j++) to[j] = (from[j - pitch] + from[j + pitch] + from[j - 1] + from[j + 1]) * 0.25;
}

/* Step `step` of the rows [i, i_end) and columns [j, j_end), by thread `thread`. */
static inline void laplace_box(laplace* l, int step, int i, int i_end, int j, int j_end, int thread) {
  const double start = team_now();
  i = larger(i, l->lowest[0]), i_end = smaller(i_end, l->end[0]);
  j = larger(j, l->lowest[1]), j_end = smaller(j_end, l->end[1]);
  const ptrdiff_t at = i * l->pitch + j;
  laplace_kernel(l->field[(step + 1) % 2] + at, l->field[step % 2] + at, l->pitch, i_end - i, j_end - j);
  split_add(&l->run.split, thread, LAPLACE_CALC, start);
}

/* Step `step` of tile (ti, tj), by thread `thread`. */
static inline void laplace_tile(laplace* l, int step, int ti, int tj, int thread) {
  const tile tile = l->run.tile;
  laplace_box(l, step, ti * tile.rows, (ti + 1) * tile.rows, tj * tile.columns, (tj + 1) * tile.columns, thread);
}

#ifdef __cplusplus
}
#endif

#endif
