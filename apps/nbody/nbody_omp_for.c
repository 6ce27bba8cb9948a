/* Bodies that attract each other, with the loops of OpenMP: all threads wait for each other after every step. */
#include <omp.h>

#include "nbody.h"

static void steps(void* of, int from, int to) {
  nbody* const n = of;
#pragma omp parallel
  for (int t = from; t < to; t++) {
#pragma omp for schedule(static)
    for (int target = 0; target < n->strips; target++) {
      for (int source = 0; source < n->strips; source++) nbody_force(n, t, target, source, omp_get_thread_num());
      nbody_move(n, t, target, omp_get_thread_num());
    }
  }
}

int main(int argc, char** argv) {
  nbody n;
  nbody_begin(&n, (team){.count = 1, .program = "nbody_omp_for"}, omp_get_max_threads(), argc, argv);
  nbody_private(&n);
  return nbody_run(&n, steps);
}
