/* Cholesky with loops over tiles that threads share, on ranks that send each other tiles between the loops. */
#include <omp.h>

#include "panels.h"

static void factor(cholesky* c) {
  for (int k = 0; k < c->tiles; k++) {
    if (cholesky_mine(c, k, k)) cholesky_potrf(c, k);
    panels_start(c, k, k);
    panels_finish(c, k, k);
#pragma omp parallel for schedule(static)
    for (int i = k + 1; i < c->tiles; i++)
      if (cholesky_mine(c, i, k)) cholesky_trsm(c, i, k, panels_tile(c, k, k));
    for (int i = k + 1; i < c->tiles; i++) panels_start(c, i, k);
    for (int i = k + 1; i < c->tiles; i++) panels_finish(c, i, k);
#pragma omp parallel for schedule(static)
    for (int index = 0; index < cholesky_triangle(c, k + 1); index++) {
      int i, j;
      cholesky_at_index(c, k + 1, index, &i, &j);
      if (cholesky_mine(c, i, j)) cholesky_update(c, i, j, k, panels_tile(c, i, k), panels_tile(c, j, k));
    }
  }
}

static void open_panels(cholesky* c) { panels_open(c, 1); }

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_mpi_for",
                                           .open = open_panels,
                                           .close = panels_close,
                                           .factor = factor,
                                           .panel = panels_gather,
                                           .thread = omp_get_thread_num};
  const team team = mpi_team(program.name, &argc, &argv, MPI_THREAD_FUNNELED);
  cholesky c;
  cholesky_begin(&c, &program, team, argc, argv);
  return cholesky_run(&c);
}
