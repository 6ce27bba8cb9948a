/* An MPI program for the tests of Slurm: each rank says where it is and takes part in one reduction of all ranks.
   Ends with 1 if the answer is wrong. Blocks as MPI does. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const char* node = getenv("SLURMD_NODENAME");
  printf("rank %d of %d on %s, sum %d\n", rank, size, node ? node : "no node of Slurm", sum);
  MPI_Finalize();
  return sum == size * (size - 1) / 2 ? 0 : 1;
}
