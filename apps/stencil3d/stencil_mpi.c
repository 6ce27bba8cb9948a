/* The 7-point stencil of the mSMS paper with MPI and the threads of OpenMP: the rival. Every rank keeps its planes and
 * a copy of the plane on either side, and fetches the copies while it computes what does not need them. */
#include "../common/mpi_team.h"
#include "stencil7.h"

static void sweep(const job* job, int z0, int z1, double* restrict dst, const double* src) {
  const ptrdiff_t row = job->nx + 2, plane = job->plane_points;
#pragma omp parallel for collapse(2) schedule(static)
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

enum { UP, DOWN }; /* message tags: the way a plane travels */

int main(int argc, char** argv) {
  const team team = mpi_team("stencil_mpi", &argc, &argv, MPI_THREAD_FUNNELED);
  job job;
  job_begin(&job, &stencil7, team.program, team, argc, argv);
  const int count = (job.ny + 2) * (job.nx + 2);

  /* Planes 1 .. planes of ours are planes first .. last-1 of the whole field; 0 and planes+1 are the neighbours'. */
  const int planes = job.last - job.first;
  double* src = job_private(&job, planes + 2);
  double* dst = job_private(&job, planes + 2);
  job_fill(&job, src + job.plane_points, dst + job.plane_points);
  const bool below = planes > 0 && job.first > 0, above = planes > 0 && job.last < job.nz + 2;
  const int lo = job.lo - job.first + 1, hi = job.hi - job.first + 1;

  job_start(&job);
  bool more = true;
  for (int t = job.step; t < job.steps && more; t++) {
    double *const first = src + job.plane_points, *const last = src + planes * job.plane_points;
    MPI_Request request[4];
    int requests = 0;
    if (below) {
      MPI_Irecv(src, count, MPI_DOUBLE, team.rank - 1, UP, MPI_COMM_WORLD, &request[requests++]);
      MPI_Isend(first, count, MPI_DOUBLE, team.rank - 1, DOWN, MPI_COMM_WORLD, &request[requests++]);
    }
    if (above) {
      MPI_Irecv(last + job.plane_points, count, MPI_DOUBLE, team.rank + 1, DOWN, MPI_COMM_WORLD, &request[requests++]);
      MPI_Isend(last, count, MPI_DOUBLE, team.rank + 1, UP, MPI_COMM_WORLD, &request[requests++]);
    }
    sweep(&job, lo + below, hi - above, dst, src);
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
    sweep(&job, lo, smaller(lo + below, hi), dst, src);
    sweep(&job, larger(hi - above, lo + below), hi, dst, src);
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(&job, t + 1, src + job.plane_points);
  }
  job_stop(&job);
  return job_finish(&job, src + job.plane_points, NULL);
}
