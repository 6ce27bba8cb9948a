/* The Laplace equation with SMint's directives only: the loops of the sequential program, whose tiles become tasks.
 * Which tile waits for which, and what moves between ranks, follows from the subscripts. */
#include <omp.h>
#include <smint.h>
#include <string.h>

#include "../common/memory.h"
#include "../common/shared.h"
#include "laplace.h"

static double* points[2]; /* all of them, in rows that are divided among the ranks */

static double* allocate(const laplace* l, int rows, int pitch) {
#pragma SMint shared ::[rows : NPROCS][pitch : ](0, NPROCS)
  double(*field)[pitch] = NULL;
  memset(field[l->first[0]], 0, sizeof **field * (size_t)l->extent[0] * (size_t)pitch);
  shared_written();
  return &field[0][0];
}

static void open(laplace* l) {
  const int n = l->run.size, share = (n - 1) / l->run.team.count + 1;
  laplace_divide_rows(l);
  memory_check(&l->run.team, 2.0 * share * (double)l->pitch * sizeof **points, l->run.team.program);
  for (int f = 0; f < 2; f++) {
    points[f] = allocate(l, n, (int)l->pitch);
    l->field[f] = points[f] + l->first[0] * l->pitch;
  }
}

static void steps(void* of, int from, int to) {
  const laplace* const l = of;
  const int n = l->run.size, pitch = (int)l->pitch, rows = l->run.tile.rows, columns = l->run.tile.columns;
  double(*old)[pitch] = (double(*)[pitch])points[from % 2];
  double(*new)[pitch] = (double(*)[pitch])points[(from + 1) % 2];
#pragma SMint barrier
  for (int t = from; t < to; t++) {
#pragma SMint parallel for tasks tile(rows, columns)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        new[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) * 0.25;
    double(*swap)[pitch] = old;
    old = new, new = swap;
  }
}

int main(int argc, char** argv) {
  laplace l;
  sms_startup(&argc, &argv);
  team team = shared_team();
  team.program = "laplace_auto";
  laplace_begin(&l, team, omp_get_max_threads(), argc, argv);
  open(&l);
  return laplace_run(&l, steps);
}
