/* The 27-point stencil by SMint directives: the version to read. It is the serial program with two shared arrays, one
 * preload on each side, and one barrier, for `depth` steps. Compare: diff stencil27_seq.c stencil27_smint.c */
#include <smint.h>

#include "stencil27.h"

static double* shared_field(int planes, int plane) {
#pragma SMint shared ::[planes : NPROCS][plane : ](0, NPROCS)
  double(*field)[plane] = NULL;
  return &field[0][0];
}

/* The planes of other ranks that `steps` steps read. */
static void preload_halo(const job* job, double* planes, int steps) {
  const int plane = (int)job->plane_points;
  const int from = larger(job->lo - steps, 0), below = job->first - from;
  const int above = smaller(job->hi + steps, job->nz + 2) - job->last;
  double(*field)[plane] = (double(*)[plane])planes;
  if (job->lo == job->hi) return;
  if (below > 0) {
#pragma SMint preload field[from : below][0 : plane]
  }
  if (above > 0) {
#pragma SMint preload field[job->last : above][0 : plane]
  }
}

static double max_over_ranks(double mine) { return sms_reduce_double(mine, SMS_MAX); }

static double sum_over_ranks(double mine) { return sms_reduce_double(mine, SMS_SUM); }

int main(int argc, char** argv) {
  stencil27 s;
  const team team = {MYPID, NPROCS, max_over_ranks, sum_over_ranks, NULL, NULL};
  stencil27_begin(&s, PROGRAM, team, argc, argv);
  job* job = &s.job;

  double* src = shared_field(job->nz + 2, (int)job->plane_points);
  double* dst = shared_field(job->nz + 2, (int)job->plane_points);
  const ptrdiff_t own = job->first * job->plane_points;
  job_fill(job, src + own, dst + own);
#pragma SMint barrier

  job_start(job);
  bool more = true;
  for (int t = job->step, steps; t < job->steps && more; t += steps) {
    steps = job_depth(job, t, s.depth);
    if (job->preload) preload_halo(job, src, steps);
    advance(&s, src, dst, steps, job->lo, job->hi);
#pragma SMint barrier
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(job, t + steps, src + own);
  }
  job_stop(job);
  return stencil27_finish(&s, src + own, NULL);
}
