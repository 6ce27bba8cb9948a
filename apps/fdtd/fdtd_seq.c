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
  for (int step = f.step + 1; step <= f.steps && more; step++) {
    update_all_u(&f, &a, f.lo, f.hi);
    update_all_p(&f, &a, f.lo, f.hi);
    fdtd_sources(&f, step, &a, f.lo, f.hi);
    more = fdtd_step(&f, step, &a);
  }
  run_stop(&f.run);
  return fdtd_finish(&f, &a, NULL);
}
