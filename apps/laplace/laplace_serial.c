/* The Laplace equation in one thread. */
#include "laplace.h"

static void steps(void* of, int from, int to) {
  laplace* const l = of;
  for (int t = from; t < to; t++)
    for (int ti = 0; ti < l->tiles[0]; ti++)
      for (int tj = 0; tj < l->tiles[1]; tj++) laplace_tile(l, t, ti, tj, 0);
}

int main(int argc, char** argv) {
  laplace l;
  laplace_begin(&l, (team){.count = 1, .program = "laplace_serial"}, 1, argc, argv);
  laplace_private(&l);
  return laplace_run(&l, steps);
}
