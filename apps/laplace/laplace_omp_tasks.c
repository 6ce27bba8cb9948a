/* The Laplace equation with the tasks of OpenMP (figure 3 of the A64FX task paper): a task for each tile and step,
 * after the tasks of the four tiles beside it. */
#include <omp.h>

#include "depend.h"
#include "laplace.h"

static void create(laplace* l, const depend* d, int from, int to) {
  for (int t = from; t < to; t++)
    for (int ti = 0; ti < l->tiles[0]; ti++)
      for (int tj = 0; tj < l->tiles[1]; tj++) {
        const char *in = depend_tile(d, t, ti, tj), *out = depend_tile(d, t + 1, ti, tj);
        (void)in, (void)out; /* a compiler that sees no use of them in the directive warns */
#pragma omp task depend(in : in[0], in[-d->row], in[d->row], in[-1], in[1]) depend(out : out[0])
        laplace_tile(l, t, ti, tj, omp_get_thread_num());
      }
}

static void steps(void* of, int from, int to) {
  laplace* const l = of;
  depend d;
  depend_open(&d, l);
#pragma omp parallel
#pragma omp single
  create(l, &d, from, to);
  depend_close(&d);
}

int main(int argc, char** argv) {
  laplace l;
  laplace_begin(&l, (team){.count = 1, .program = "laplace_omp_tasks"}, omp_get_max_threads(), argc, argv);
  laplace_private(&l);
  return laplace_run(&l, steps);
}
