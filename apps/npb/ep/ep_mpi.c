/* Embarrassingly Parallel with MPI: each rank has its share of the batches, and MPI_Allreduce adds up. */
#include <mpi.h>

#include "ep.h"

static double sum_over_ranks(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

static void leave(void) { MPI_Finalize(); }

int main(int argc, char** argv) {
  npb n;
  npb_team team = {.sum = sum_over_ranks, .leave = leave};
  double sums[2] = {0}, counts[EP_RINGS] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.count);
  npb_begin(&n, "EP", "ep_mpi", team, false, argc, argv);
  const ep_job job = ep_begin(&n);
  const int64_t rank = team.rank, ranks = team.count;
  for (int k = (int)(job.batches * rank / ranks); k < (int)(job.batches * (rank + 1) / ranks); k++)
    ep_batch(k, &sums[0], &sums[1], counts);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, counts, EP_RINGS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return ep_finish(&job, &n, sums[0], sums[1], counts);
}
