/* Bodies that attract each other, in one thread. */
#include "nbody.h"

static void steps(void* of, int from, int to) {
  nbody* const n = of;
  for (int t = from; t < to; t++)
    for (int target = 0; target < n->strips; target++) {
      for (int source = 0; source < n->strips; source++) nbody_force(n, t, target, source, 0);
      nbody_move(n, t, target, 0);
    }
}

int main(int argc, char** argv) {
  nbody n;
  nbody_begin(&n, (team){.count = 1, .program = "nbody_serial"}, 1, argc, argv);
  nbody_private(&n);
  return nbody_run(&n, steps);
}
