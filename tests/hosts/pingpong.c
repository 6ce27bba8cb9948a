/* Rank 0 says where the ranks are; then ranks 0 and N-1 exchange messages. Arguments: ROUNDS BYTES; 0 rounds: for ever,
 * and rank 0 says "running" after the first. The answer is checked: a wrong byte ends the job with status 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void exchange(int rank, int peer, char* message, int bytes) {
  if (rank == 0) MPI_Send(message, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  MPI_Recv(message, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Send(message, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
}

static void check(const char* message, int bytes) {
  for (int i = 0; i < bytes; i++)
    if (message[i] != (char)(i * 7)) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  int bytes = argc > 2 ? atoi(argv[2]) : 8;
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  char(*hosts)[sizeof host] = malloc((size_t)size * sizeof host);
  MPI_Gather(host, sizeof host, MPI_CHAR, hosts, sizeof host, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; i++) printf("rank %d of %d on %s\n", i, size, hosts[i]);
  fflush(stdout);
  free(hosts);

  int peer = rank == 0 ? size - 1 : 0;
  int plays = size > 1 && (rank == 0 || rank == size - 1);
  char* message = malloc((size_t)bytes);
  for (int i = 0; i < bytes; i++) message[i] = (char)(rank == 0 ? i * 7 : 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (plays) exchange(rank, peer, message, bytes);
  if (plays) check(message, bytes);
  if (rounds == 0 && rank == 0) puts("running");
  fflush(stdout);
  double begin = MPI_Wtime();
  for (long i = 0; plays && (rounds == 0 || i < rounds); i++) exchange(rank, peer, message, bytes);
  double seconds = MPI_Wtime() - begin;
  if (plays) check(message, bytes);
  if (rank == 0)
    printf("%d bytes: %.2f us one way, %.3f GB/s\n", bytes, seconds / (2.0 * (double)rounds) * 1e6,
           2.0 * (double)rounds * bytes / seconds / 1e9);
  fflush(stdout);
  free(message);
  MPI_Finalize();
  return 0;
}
