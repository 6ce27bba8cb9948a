/* Conjugate Gradient with MPI, in the way of the NPB: the contributions to a row of the matrix are summed in a
 * hypercube of the ranks that share the row, the sums change places with the transposed rank, and scalars go the same
 * way. */
#include <mpi.h>
#include <string.h>

#include "cg.h"

static double sum_over_ranks(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

static void leave(void) { MPI_Finalize(); }

static void swap(int partner, const double* out, int out_count, double* in, int in_count) {
  MPI_Request request;
  MPI_Irecv(in, in_count, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, out_count, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double sum_over_row(const cg_job* job, double mine) {
  for (int step = job->doublings - 1; step >= 0; step--) {
    double theirs;
    swap(cg_partner(job, step), &mine, 1, &theirs, 1);
    mine += theirs;
  }
  return mine;
}

static const double* exchange(const cg_job* job, double* q) {
  double* const w = job->w;
  const int part = job->part, length = job->part_length;
  for (int step = 0; step < job->doublings; step++) {
    const cg_rows theirs = cg_lacks(job, step);
    swap(cg_partner(job, step), w + theirs.first, theirs.count, q + part, length);
    for (int j = part; j < part + length; j++) w[j] += q[j];
  }
  if (job->doublings == 0) memcpy(q, w, (size_t)job->width * sizeof *q);
  else swap(job->transpose, w + part, length, q, job->width);
  return q;
}

int main(int argc, char** argv) {
  npb n;
  npb_team team = {.sum = sum_over_ranks, .leave = leave};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.count);
  npb_begin(&n, "CG", "cg_mpi", team, false, argc, argv);
  cg_job job = cg_begin(&n, sum_over_row, exchange);
  job.w = npb_array(&n, (size_t)job.most_height, sizeof *job.w);
  return cg_run(&job, &n);
}
