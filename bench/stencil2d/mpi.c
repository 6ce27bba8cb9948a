/* The rival: each rank keeps its rows and a copy of the row on either side, and fetches the copies while it computes
 * what does not need them. */
#include <mpi.h>

#include "common.h"

static void sweep(int lo, int hi, double (*restrict dst)[NX], double (*restrict src)[NX]) {
#pragma omp parallel for
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = steps_wanted(argc, argv);
  /* The inner rows are divided, so the rim is a halo that nobody sends. Row 1 here is row `first` of the grid. */
  const int first = 1 + (NY - 2) * rank / ranks, rows = 1 + (NY - 2) * (rank + 1) / ranks - first;
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double(*a)[NX] = zeroes((rows + 2) * sizeof *a), (*src)[NX] = a;
  double(*b)[NX] = zeroes((rows + 2) * sizeof *b), (*dst)[NX] = b;
  double change = 0, total;

#pragma omp parallel for
  for (int y = 1; y <= rows; y++)
    for (int x = 1; x < NX - 1; x++)
      a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)(first + y - 1) / NY * M_PI);
  MPI_Barrier(MPI_COMM_WORLD);

  const double start = now();
  for (int t = 0; t < steps; t++) {
    MPI_Request halo[4];
    MPI_Irecv(src[0], NX, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &halo[0]);
    MPI_Irecv(src[rows + 1], NX, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &halo[1]);
    MPI_Isend(src[1], NX, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &halo[2]);
    MPI_Isend(src[rows], NX, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &halo[3]);
    sweep(2, rows, dst, src);
    MPI_Waitall(4, halo, MPI_STATUSES_IGNORE);
    sweep(1, 2, dst, src);
    if (rows > 1) sweep(rows, rows + 1, dst, src);
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  const double seconds = now() - start;

#pragma omp parallel for reduction(+ : change)
  for (int y = 1; y <= rows; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  MPI_Reduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) report(steps, seconds, total);
  free(a);
  free(b);
  return MPI_Finalize();
}
