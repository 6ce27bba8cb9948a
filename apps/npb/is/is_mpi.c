/* Integer Sort with MPI, in the way of the NPB: the sizes of the buckets are summed over all ranks (MPI_Allreduce),
 * then everybody tells everybody how many keys will come (MPI_Alltoall), and sends them (MPI_Alltoallv). */
#include <mpi.h>
#include <stdlib.h>

#include "is.h"

/* By rank: how many keys go there and come from there, and where they begin. */
static int *send, *send_at, *receive, *receive_at;
static int* received;

static double sum_over_ranks(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

static void leave(void) { MPI_Finalize(); }

static const int* exchange(is_job* job, int* totals, int* bounds) {
  is_sort(job, bounds, NULL);
  MPI_Allreduce(job->sizes, totals, IS_SIZES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  is_bounds(job, totals, bounds);
  for (int i = 0; i < job->ranks; i++) send[i] = is_sum(job->sizes, bounds[i], bounds[i + 1]);
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 1; i < job->ranks; i++) {
    send_at[i] = send_at[i - 1] + send[i - 1];
    receive_at[i] = receive_at[i - 1] + receive[i - 1];
  }
  MPI_Alltoallv(job->sorted, send, send_at, MPI_INT, received, receive, receive_at, MPI_INT, MPI_COMM_WORLD);
  return received;
}

int main(int argc, char** argv) {
  npb n;
  npb_team team = {.sum = sum_over_ranks, .leave = leave};
  int sizes[IS_SIZES];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.count);
  npb_begin(&n, "IS", "is_mpi", team, false, argc, argv);
  is_job job = is_begin(&n, sizes, exchange);
  send = npb_memory(&n, (size_t)team.count, sizeof *send);
  send_at = npb_memory(&n, (size_t)team.count, sizeof *send_at);
  receive = npb_memory(&n, (size_t)team.count, sizeof *receive);
  receive_at = npb_memory(&n, (size_t)team.count, sizeof *receive_at);
  received = npb_memory(&n, (size_t)job.capacity, sizeof *received);
  const int status = is_run(&job, &n);
  free(send);
  free(send_at);
  free(receive);
  free(receive_at);
  free(received);
  return status;
}
