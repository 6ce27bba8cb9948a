/* The rival of gmove.c's second part: a matrix of which each rank has a block of rows becomes one of which it has
 * columns in turn, by MPI_Alltoallw with types for both sides. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 1024
#endif

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? atoi(argv[1]) : 3, rows = N / ranks, columns = N / ranks;
  double(*m)[N] = malloc((size_t)rows * sizeof *m), (*c)[columns] = malloc(N * sizeof *c), best = 1e9;
  int *ones = malloc((size_t)ranks * sizeof *ones), *from = calloc((size_t)ranks, sizeof *from);
  int* to = malloc((size_t)ranks * sizeof *to);
  MPI_Datatype *gives = malloc((size_t)ranks * sizeof *gives), *takes = malloc((size_t)ranks * sizeof *takes);
  MPI_Datatype row, part;
  MPI_Type_vector(columns, 1, ranks, MPI_DOUBLE, &part);
  MPI_Type_create_resized(part, 0, N * sizeof(double), &row);
  for (int r = 0; r < ranks; r++) {
    ones[r] = 1;
    from[r] = r * (int)sizeof(double); /* column r of this rank's rows */
    to[r] = r * rows * columns * (int)sizeof(double);
    MPI_Type_contiguous(rows, row, &gives[r]);
    MPI_Type_contiguous(rows * columns, MPI_DOUBLE, &takes[r]);
    MPI_Type_commit(&gives[r]);
    MPI_Type_commit(&takes[r]);
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < N; j++) m[i][j] = (rank * rows + i) * (double)N + j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < columns; j++) c[i][j] = -1;
  for (int round = 0; round < rounds; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Alltoallw(m, ones, from, gives, c, ones, to, takes, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_Wtime() - start < best) best = MPI_Wtime() - start;
  }
  long wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < columns; j++) wrong += c[i][j] != i * (double)N + j * ranks + rank;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("{\"cyclic\": %.9f, \"wrong\": %ld}\n", best, wrong);
  MPI_Finalize();
  return wrong != 0;
}
