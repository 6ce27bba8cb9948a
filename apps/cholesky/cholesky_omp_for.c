/* Cholesky with loops over tiles that threads share: none goes on before all are done with a loop. */
#include <omp.h>

#include "cholesky.h"

static void factor(cholesky* c) {
  for (int k = 0; k < c->tiles; k++) {
    cholesky_potrf(c, k);
#pragma omp parallel for schedule(static)
    for (int i = k + 1; i < c->tiles; i++) cholesky_trsm(c, i, k, cholesky_tile(c, k, k));
#pragma omp parallel for schedule(static)
    for (int index = 0; index < cholesky_triangle(c, k + 1); index++) {
      int i, j;
      cholesky_at_index(c, k + 1, index, &i, &j);
      cholesky_update(c, i, j, k, cholesky_tile(c, i, k), cholesky_tile(c, j, k));
    }
  }
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_omp_for",
                                           .open = cholesky_private,
                                           .factor = factor,
                                           .thread = omp_get_thread_num};
  cholesky c;
  cholesky_begin(&c, &program, (team){.count = 1}, argc, argv);
  return cholesky_run(&c);
}
