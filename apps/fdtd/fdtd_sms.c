/* Sound in a box over shared arrays. A rank updates the planes whose home it is, and reads those beside them through
 * plain pointers, wherever they are. Compare: diff fdtd_seq.c fdtd_sms.c */
#include <sms.h>

#include "fdtd.h"

static double max_over_ranks(double mine) { return sms_reduce_double(mine, SMS_MAX); }

static double sum_over_ranks(double mine) { return sms_reduce_double(mine, SMS_SUM); }

static void leave(void) { sms_shutdown(); }

static int64_t total(uint64_t mine) { return sms_reduce_int64((int64_t)mine, SMS_SUM); }

/* Between nodes the planes that others read come first. The inner ones are updated between the halves of the
 * synchronisation, while other ranks arrive and their planes are in transit. */
typedef struct order {
  bool overlap;
  int lo, inner, inner_end, hi;
} order;

static order order_of(const fdtd* f, int below, int above) {
  order o = {.overlap = sms_nnodes > 1 && f->lo < f->hi, .lo = f->lo, .inner = f->hi, .inner_end = f->hi, .hi = f->hi};
  if (!o.overlap) return o;
  o.inner = f->first > 0 ? smaller(f->lo + below, f->hi) : f->lo;
  o.inner_end = f->last < f->size[2] + 2 * PAD ? larger(f->hi - above, o.inner) : f->hi;
  return o;
}

/* The planes beside ours, in one go each; page faults would fetch them, too, a few pages at a time. */
static void fetch(const fdtd* f, const double* array, int below, int above) {
  const int from = larger(f->lo - below, 0), to = smaller(f->hi + above, f->size[2] + 2 * PAD);
  const sms_range under[] = {{from, f->lo - from, 1}, {0, f->rows, 1}, {0, f->row, 1}};
  const sms_range over[] = {{f->hi, to - f->hi, 1}, {0, f->rows, 1}, {0, f->row, 1}};
  sms_request planes[] = {sms_preload_start(array, under), sms_preload_start(array, over)};
  for (int i = 0; i < 2; i++) sms_preload_wait(&planes[i]);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  fdtd f;
  const team team = {sms_rank, sms_nprocs, max_over_ranks, sum_over_ranks, leave, NULL};
  fdtd_begin(&f, "fdtd_sms", team, argc, argv);

  const int dim[] = {f.size[2] + 2 * PAD, f.rows, f.row, -1}, div[] = {sms_nprocs, 1, 1, -1};
  fields a = fdtd_private_layers(&f);
  a.p = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  for (int d = 0; d < 3; d++) a.u[d] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
  fdtd_fill(&f, &a);
  sms_sync_drop();

  /* u at a plane reads p two planes below and one above; p reads u_z one below and two above. */
  const order u = order_of(&f, 2, 1), p = order_of(&f, 1, 2);
  double* const uz = a.u[2];
  if (u.overlap) {
    sms_promise_preload(a.p);
    sms_promise_preload(uz);
    fetch(&f, a.p, 2, 1);
  }
  fdtd_check_begin(&f, &a);

  fdtd_start(&f);
  bool more = true;
  for (int step = f.step + 1; step <= f.steps && more; step++) {
    update_all_u(&f, &a, u.lo, u.inner);
    update_all_u(&f, &a, u.inner_end, u.hi);
    sms_sync_drop_start();
    update_all_u(&f, &a, u.inner, u.inner_end);
    sms_sync_drop_wait();
    if (u.overlap) fetch(&f, uz, 1, 2);

    update_all_p(&f, &a, p.lo, p.inner);
    update_all_p(&f, &a, p.inner_end, p.hi);
    fdtd_sources(&f, step, &a, p.lo, p.inner);
    fdtd_sources(&f, step, &a, p.inner_end, p.hi);
    sms_sync_drop_start();
    update_all_p(&f, &a, p.inner, p.inner_end);
    fdtd_sources(&f, step, &a, p.inner, p.inner_end);
    sms_sync_drop_wait();
    if (p.overlap) fetch(&f, a.p, 2, 1);
    more = fdtd_step(&f, step, &a);
  }
  run_stop(&f.run);

  sms_statistics mine;
  sms_stats(NULL, &mine);
  const counter counters[] = {{"nodes", sms_nnodes},
                              {"read_faults", total(mine.read_faults)},
                              {"pages_fetched", total(mine.pages_fetched)},
                              {"pages_preloaded", total(mine.pages_preloaded)},
                              {"bytes_fetched", total(mine.bytes_fetched)},
                              {"pages_diffed", total(mine.pages_diffed)},
                              {"bytes_sent", total(mine.bytes_sent)},
                              {NULL, 0}};
  return fdtd_finish(&f, &a, counters);
}
