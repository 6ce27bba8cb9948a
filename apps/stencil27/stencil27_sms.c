/* The 27-point stencil over shared arrays. A rank computes the planes whose home it is, and reads those beside them
 * through plain pointers, wherever they are. Compare: diff stencil27_seq.c stencil27_sms.c */
#include "../common/shared_fields.h"
#include "stencil27.h"

/* PRELOAD: the planes on either side that the next `steps` steps read, in one request each. */
typedef struct halo {
  sms_request side[2];
  int sides;
} halo;

static halo start_halo(const job* job, const double* field, int steps, int64_t* exchanges) {
  halo h = {.sides = 0};
  if (job->lo == job->hi) return h;
  const int from = larger(job->lo - steps, 0), to = smaller(job->hi + steps, job->nz + 2);
  const sms_range below[] = {{from, job->first - from, 1}, {0, job->plane_points, 1}};
  const sms_range above[] = {{job->last, to - job->last, 1}, {0, job->plane_points, 1}};
  if (from < job->first) h.side[h.sides++] = sms_preload_start(field, below);
  if (to > job->last) h.side[h.sides++] = sms_preload_start(field, above);
  *exchanges += h.sides;
  return h;
}

static void finish_halo(halo* h) {
  for (int i = 0; i < h->sides; i++) sms_preload_wait(&h->side[i]);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  stencil27 s;
  stencil27_begin(&s, PROGRAM, shared_team(), argc, argv);
  job* job = &s.job;

  const shared_fields fields = shared_fields_fill(job);
  double *src = fields.src, *dst = fields.dst;
  const ptrdiff_t own = fields.own;

  /* Between nodes, OVERLOAD: the planes that other ranks read come first, and are on their way to them while the rest
   * is computed. */
  const bool overload = job->preload && sms_nnodes > 1;
  int64_t exchanges = 0;
  if (overload) {
    sms_promise_preload(src);
    sms_promise_preload(dst);
    halo h = start_halo(job, src, job_depth(job, job->step, s.depth), &exchanges);
    finish_halo(&h);
  }
  job_start(job);
  bool more = true;
  for (int t = job->step, steps; t < job->steps && more; t += steps) {
    steps = job_depth(job, t, s.depth);
    const int next = job_depth(job, t + steps, s.depth);
    if (overload) {
      advance_ends(&s, src, dst, steps);
      sms_sync_drop();
      halo h = start_halo(job, dst, next, &exchanges);
      advance_inside(&s, src, dst, steps);
      finish_halo(&h);
    } else {
      advance(&s, src, dst, steps, job->lo, job->hi);
      sms_sync_drop();
    }
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(job, t + steps, src + own);
  }
  job_stop(job);

  counter counters[SHARED_COUNTERS + 2] = {{"halos", shared_total((uint64_t)exchanges)}};
  shared_counters(counters + 1);
  return stencil27_finish(&s, src + own, counters);
}
