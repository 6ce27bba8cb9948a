/* The contestant MPI: blocking calls on memory of malloc. */
#include <mpi.h>
#include <stdlib.h>

static int rank, ranks;
#define START(argc, argv) \
  (MPI_Init(&argc, &argv), MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks))
#define RANK rank
#define RANKS ranks
#define STOP MPI_Finalize()
#define BARRIER() MPI_Barrier(MPI_COMM_WORLD)
#define BUFFER(bytes) malloc(bytes)
#define BCAST(buffer, n) MPI_Bcast(buffer, n, MPI_DOUBLE, 0, MPI_COMM_WORLD)
#define ALLREDUCE(send, recv, n) MPI_Allreduce(send, recv, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
#define ALLGATHER(send, recv, n) MPI_Allgather(send, n, MPI_DOUBLE, recv, n, MPI_DOUBLE, MPI_COMM_WORLD)
#define ALLTOALL(send, recv, n) MPI_Alltoall(send, n, MPI_DOUBLE, recv, n, MPI_DOUBLE, MPI_COMM_WORLD)
#include "collective.h"
