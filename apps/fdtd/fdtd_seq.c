/* Sound in a box, in one process: on one thread, or compiled with OpenMP on several. fdtd_sms.c and fdtd_mpi.c share it
 * among ranks. */
#include "fdtd.h"

int main(int argc, char** argv) {
  fdtd f;
  fdtd_begin(&f, "fdtd_seq", (team){.count = 1}, argc, argv);
  fields a = fdtd_private(&f, 0);
  fdtd_fill(&f, &a);
  fdtd_check_begin(&f, &a);

  fdtd_start(&f);
  bool more = true;
  for (int step = f.step + 1, depth; step <= f.steps && more; step += depth) {
    depth = fdtd_depth(&f, step);
    update_bands(&f, &a, step, depth);
    more = fdtd_step(&f, step + depth - 1, &a);
  }
  run_stop(&f.run);
  return fdtd_finish(&f, &a, NULL);
}
