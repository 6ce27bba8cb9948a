/* Cholesky with a task for each step on a tile, which waits for the tiles that it uses. */
#include <omp.h>

#include "cholesky.h"

static void factor(cholesky* c) {
  double** const at = c->at;
  const size_t tiles = (size_t)c->tiles;
#pragma omp parallel
#pragma omp single
  for (size_t k = 0; k < tiles; k++) {
    const double* const diagonal = at[k + k * tiles];
#pragma omp task depend(inout : *at[k + k * tiles])
    cholesky_potrf(c, (int)k);
    for (size_t i = k + 1; i < tiles; i++)
#pragma omp task depend(in : *diagonal) depend(inout : *at[i + k * tiles])
      cholesky_trsm(c, (int)i, (int)k, diagonal);
    for (size_t j = k + 1; j < tiles; j++)
      for (size_t i = j; i < tiles; i++) {
        const double *const left = at[i + k * tiles], *const right = at[j + k * tiles];
#pragma omp task depend(in : *left, *right) depend(inout : *at[i + j * tiles])
        cholesky_update(c, (int)i, (int)j, (int)k, left, right);
      }
  }
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_omp_tasks",
                                           .open = cholesky_private,
                                           .factor = factor,
                                           .thread = omp_get_thread_num};
  cholesky c;
  cholesky_begin(&c, &program, (team){.count = 1}, argc, argv);
  return cholesky_run(&c);
}
