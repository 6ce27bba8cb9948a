/* The 27-point stencil in one process: on one thread, or compiled with OpenMP on several. stencil27_sms.c,
 * stencil27_smint.c and stencil27_mpi.c share it among ranks. */
#include "stencil27.h"

int main(int argc, char** argv) {
  stencil27 s;
  stencil27_begin(&s, PROGRAM, (team){.count = 1}, argc, argv);
  job* job = &s.job;

  double* src = job_private(job, job->nz + 2);
  double* dst = job_private(job, job->nz + 2);
  job_fill(job, src, dst);

  job_start(job);
  bool more = true;
  for (int t = job->step, steps; t < job->steps && more; t += steps) {
    steps = job_depth(job, t, s.depth);
    advance(&s, src, dst, steps, job->lo, job->hi);
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(job, t + steps, src);
  }
  job_stop(job);
  return stencil27_finish(&s, src, NULL);
}
