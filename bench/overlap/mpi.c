/* mpi.c: does it pay to start a collective, compute, and wait for it, instead of doing one after the other? The program
 * of Nanri, Ohshima, Ono, "Study on the Effect of Communication Overlapping with Non-Blocking Collectives", for any
 * MPI:
 *
 *     mpicc -O3 -march=native -fopenmp mpi.c common.c options.c -o overlap
 *     mpirun -n 2 --bind-to none ./overlap -M 131072 -N 512
 *
 * Here is only the communication; common.c and options.c have the rest, and `overlap --help` tells how to use it.
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "common.h"

static MPI_Request request;

static void call(const transfer* t) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int m = t->count;
  switch (t->kind) {
    case ALLTOALL: MPI_Alltoall(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, all); break;
    case ALLREDUCE: MPI_Allreduce(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, all); break;
    case BCAST: MPI_Bcast(t->recv, m, MPI_DOUBLE, 0, all); break;
    case REDUCE: MPI_Reduce(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, 0, all); break;
    case ALLGATHER: MPI_Allgather(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, all); break;
    case GATHER: MPI_Gather(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, 0, all); break;
    case SCATTER: MPI_Scatter(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, 0, all); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_block(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, all); break;
    case SCAN: MPI_Scan(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, all); break;
    case BARRIER: MPI_Barrier(all); break;
    case COLLECTIVES: break;
  }
}

static void start(const transfer* t) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int m = t->count;
  MPI_Request* const r = &request;
  switch (t->kind) {
    case ALLTOALL: MPI_Ialltoall(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, all, r); break;
    case ALLREDUCE: MPI_Iallreduce(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, all, r); break;
    case BCAST: MPI_Ibcast(t->recv, m, MPI_DOUBLE, 0, all, r); break;
    case REDUCE: MPI_Ireduce(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, 0, all, r); break;
    case ALLGATHER: MPI_Iallgather(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, all, r); break;
    case GATHER: MPI_Igather(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, 0, all, r); break;
    case SCATTER: MPI_Iscatter(t->send, m, MPI_DOUBLE, t->recv, m, MPI_DOUBLE, 0, all, r); break;
    case REDUCE_SCATTER: MPI_Ireduce_scatter_block(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, all, r); break;
    case SCAN: MPI_Iscan(t->send, t->recv, m, MPI_DOUBLE, MPI_SUM, all, r); break;
    case BARRIER: MPI_Ibarrier(all, r); break;
    case COLLECTIVES: break;
  }
}

static void test(void) {
  int done;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE); /* a request that is complete becomes one that MPI_Wait returns from */
}

static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void largest(double* values, int count) {
  MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void end_job(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

int main(int argc, char** argv) {
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Comm machine;
  library mpi = {.name = name, .call = call, .start = start, .test = test, .wait = wait, .largest = largest};
  mpi.end_job = end_job;
  MPI_Init(&argc, &argv);
  MPI_Get_library_version(name, &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &mpi.ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &mpi.local_rank);
  MPI_Comm_size(machine, &mpi.local_ranks);
  MPI_Comm_free(&machine);
  const int status = overlap(argc, argv, &mpi);
  MPI_Finalize();
  return status;
}
