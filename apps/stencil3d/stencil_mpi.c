/* The 7-point stencil of the mSMS paper with MPI and the threads of OpenMP: the rival. Every rank keeps its planes and
 * a copy of the plane on either side, and fetches the copies while it computes what does not need them. */
#include <mpi.h>

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

enum { UP, DOWN }; /* message tags: the way a plane travels */

static double max_over_ranks(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

static void leave(void) { MPI_Finalize(); }

int main(int argc, char** argv) {
  int provided;
  team team = {.max = max_over_ranks, .leave = leave};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.count);
  job job;
  job_begin(&job, "stencil_mpi", team, argc, argv);
  typedef double plane[job.ny + 2][job.nx + 2];
  const int count = (job.ny + 2) * (job.nx + 2);

  /* Planes 1 .. planes of ours are planes first .. last-1 of the whole field; 0 and planes+1 are the neighbours'. */
  const int planes = job.last - job.first;
  plane* src = job_private(&job, planes + 2);
  plane* dst = job_private(&job, planes + 2);
  job_fill(&job, *src[1], *dst[1]);
  const bool below = planes > 0 && job.first > 0, above = planes > 0 && job.last < job.nz + 2;
  const int lo = job.lo - job.first + 1, hi = job.hi - job.first + 1;

  job_start(&job);
  for (int t = job.step; t < job.steps; t++) {
    MPI_Request request[4];
    int requests = 0;
    if (below) {
      MPI_Irecv(src[0], count, MPI_DOUBLE, team.rank - 1, UP, MPI_COMM_WORLD, &request[requests++]);
      MPI_Isend(src[1], count, MPI_DOUBLE, team.rank - 1, DOWN, MPI_COMM_WORLD, &request[requests++]);
    }
    if (above) {
      MPI_Irecv(src[planes + 1], count, MPI_DOUBLE, team.rank + 1, DOWN, MPI_COMM_WORLD, &request[requests++]);
      MPI_Isend(src[planes], count, MPI_DOUBLE, team.rank + 1, UP, MPI_COMM_WORLD, &request[requests++]);
    }
    sweep(lo + below, hi - above, job.ny, job.nx, dst, src);
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
    sweep(lo, smaller(lo + below, hi), job.ny, job.nx, dst, src);
    sweep(larger(hi - above, lo + below), hi, job.ny, job.nx, dst, src);
    plane* old = src;
    src = dst;
    dst = old;
    job_step(&job, t + 1, *src[1]);
  }
  job_stop(&job);
  return job_finish(&job, *src[1], NULL);
}
