/* The 7-point stencil of the mSMS paper on one thread; stencil_omp.c, stencil_mpi.c and stencil_sms.c differ from it
 * only in what sharing the work takes. */
#include "stencil7.h"

static void sweep(const job* job, int z0, int z1, double* restrict dst, const double* src) {
  const ptrdiff_t row = job->nx + 2, plane = job->plane_points;
  for (int zb = z0; zb < z1; zb += BLOCK_Z)
    for (int yb = 1; yb <= job->ny; yb += BLOCK_Y)
      for (int z = zb; z < smaller(zb + BLOCK_Z, z1); z++)
        for (int y = yb; y < smaller(yb + BLOCK_Y, job->ny + 1); y++) {
          double* restrict to = dst + z * plane + y * row;
          const double* at = src + z * plane + y * row;
          for (int x = 1; x <= job->nx; x++)
            to[x] =
                0.4 * at[x] + 0.1 * (at[x - plane] + at[x + plane] + at[x - row] + at[x + row] + at[x - 1] + at[x + 1]);
        }
}

int main(int argc, char** argv) {
  job job;
  job_begin(&job, &stencil7, "stencil_seq", (team){.count = 1}, argc, argv);

  double* src = job_private(&job, job.nz + 2);
  double* dst = job_private(&job, job.nz + 2);
  job_fill(&job, src, dst);

  job_start(&job);
  bool more = true;
  for (int t = job.step; t < job.steps && more; t++) {
    sweep(&job, job.lo, job.hi, dst, src);
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(&job, t + 1, src);
  }
  job_stop(&job);
  return job_finish(&job, src, NULL);
}
