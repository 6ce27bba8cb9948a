/* The Laplace equation with the loops of OpenMP: all threads wait for each other after every step. */
#include <omp.h>

#include "laplace.h"

static void steps(void* of, int from, int to) {
  laplace* const l = of;
#pragma omp parallel
  for (int t = from; t < to; t++) {
#pragma omp for collapse(2) schedule(static)
    for (int ti = 0; ti < l->tiles[0]; ti++)
      for (int tj = 0; tj < l->tiles[1]; tj++) laplace_tile(l, t, ti, tj, omp_get_thread_num());
  }
}

int main(int argc, char** argv) {
  laplace l;
  laplace_begin(&l, (team){.count = 1, .program = "laplace_omp_for"}, omp_get_max_threads(), argc, argv);
  laplace_private(&l);
  return laplace_run(&l, steps);
}
