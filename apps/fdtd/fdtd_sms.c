/* Sound in a box over shared arrays. A rank updates the planes whose home it is, and reads those beside them through
 * plain pointers, wherever they are. Compare: diff fdtd_seq.c fdtd_sms.c */
#include "shared_fields.h"

/* The planes beside ours, in one go each; page faults would fetch them, too, a few pages at a time. */
static void fetch(const fdtd* f, const double* array, int below, int above) {
  if (sms_nnodes == 1 || f->lo == f->hi) return;
  const int from = larger(f->lo - below, 0), to = smaller(f->hi + above, f->size[2] + 2 * PAD);
  const sms_range under[] = {{from, f->lo - from, 1}, {0, f->rows, 1}, {0, f->row, 1}};
  const sms_range over[] = {{f->hi, to - f->hi, 1}, {0, f->rows, 1}, {0, f->row, 1}};
  sms_request planes[] = {sms_preload_start(array, under), sms_preload_start(array, over)};
  for (int i = 0; i < 2; i++) sms_preload_wait(&planes[i]);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  fdtd f;
  fdtd_begin(&f, "fdtd_sms", shared_team(), argc, argv);

  fields a = fdtd_shared_fields(&f);

  sms_promise_preload(a.p);
  sms_promise_preload(a.u[2]);
  fetch(&f, a.p, READ_BELOW_OF_P, READ_ABOVE_OF_P);
  fdtd_check_begin(&f, &a);

  fdtd_start(&f);
  bool more = true;
  for (int step = f.step + 1, depth; step <= f.steps && more; step += depth) {
    depth = fdtd_depth(&f, step);
    for (int k = 0; k < depth; k++) {
      update_u_ends(&f, &a, k);
      sms_sync_drop_start();
      if (k == 0) update_bands(&f, &a, step, depth);
      sms_sync_drop_wait();
      fetch(&f, a.u[2], READ_BELOW_OF_U, READ_ABOVE_OF_U);
      update_p_ends(&f, &a, step, k);
      sms_sync_drop();
      fetch(&f, a.p, READ_BELOW_OF_P, READ_ABOVE_OF_P);
    }
    more = fdtd_step(&f, step + depth - 1, &a);
  }
  run_stop(&f.run);

  counter counters[SHARED_COUNTERS];
  shared_counters(counters);
  return fdtd_finish(&f, &a, counters);
}
