/* Conjugate Gradient in one process. */
#include "cg.h"

static double sum(const cg_job* job, double mine) {
  (void)job;
  return mine;
}

static const double* exchange(const cg_job* job, double* q) {
  (void)q;
  return job->w;
}

int main(int argc, char** argv) {
  npb n;
  npb_begin(&n, "CG", "cg_seq", (npb_team){.count = 1}, false, argc, argv);
  cg_job job = cg_begin(&n, sum, exchange);
  job.w = npb_array(&n, (size_t)job.most_height, sizeof *job.w);
  return cg_run(&job, &n);
}
