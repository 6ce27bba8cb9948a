/* Bodies that attract each other, with the tasks of OpenMP: a task for the forces of each strip on each strip, which
 * follow each other on a strip, and a task that moves a strip. */
#include <omp.h>

#include "depend.h"
#include "nbody.h"

static void create(nbody* n, depend* d, int from, int to) {
  for (int t = from; t < to; t++)
    for (int target = 0; target < n->strips; target++) {
      const char *at = depend_position(d, t, target), *next = depend_position(d, t + 1, target);
      const char* const force = depend_force(d, target);
      for (int source = 0; source < n->strips; source++) {
        const char* const of = depend_position(d, t, source);
        (void)of;
#pragma omp task depend(in : at[0], of[0]) depend(inout : force[0])
        nbody_force(n, t, target, source, omp_get_thread_num());
      }
      (void)at, (void)next, (void)force;
#pragma omp task depend(in : at[0]) depend(out : next[0]) depend(inout : force[0])
      nbody_move(n, t, target, omp_get_thread_num());
    }
}

static void steps(void* of, int from, int to) {
  nbody* const n = of;
  depend d;
  depend_open(&d, n);
#pragma omp parallel
#pragma omp single
  create(n, &d, from, to);
  depend_close(&d);
}

int main(int argc, char** argv) {
  nbody n;
  nbody_begin(&n, (team){.count = 1, .program = "nbody_omp_tasks"}, omp_get_max_threads(), argc, argv);
  nbody_private(&n);
  return nbody_run(&n, steps);
}
