/* The 7-point stencil of the mSMS paper with the threads of OpenMP. Compare: diff stencil_seq.c stencil_omp.c */
#include "common.h"

static void sweep(int z0, int z1, int ny, int nx, double (*restrict dst)[ny + 2][nx + 2],
                  double (*src)[ny + 2][nx + 2]) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int zb = z0; zb < z1; zb += BLOCK_Z)
    for (int yb = 1; yb <= ny; yb += BLOCK_Y)
      for (int z = zb; z < smaller(zb + BLOCK_Z, z1); z++)
        for (int y = yb; y < smaller(yb + BLOCK_Y, ny + 1); y++)
          for (int x = 1; x <= nx; x++)
            dst[z][y][x] = 0.4 * src[z][y][x] + 0.1 * (src[z - 1][y][x] + src[z + 1][y][x] + src[z][y - 1][x] +
                                                       src[z][y + 1][x] + src[z][y][x - 1] + src[z][y][x + 1]);
}

int main(int argc, char** argv) {
  job job;
  job_begin(&job, "stencil_omp", (team){.count = 1}, argc, argv);
  typedef double plane[job.ny + 2][job.nx + 2];

  plane* src = job_private(&job, job.nz + 2);
  plane* dst = job_private(&job, job.nz + 2);
  job_fill(&job, **src, **dst);

  job_start(&job);
  for (int t = job.step; t < job.steps; t++) {
    sweep(job.lo, job.hi, job.ny, job.nx, dst, src);
    plane* old = src;
    src = dst;
    dst = old;
    job_step(&job, t + 1, **src);
  }
  job_stop(&job);
  return job_finish(&job, **src, NULL);
}
