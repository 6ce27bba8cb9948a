/* The grid in memory that MPI shares between the ranks of one node. Over several nodes MPI refuses to make it. */
#include <mpi.h>

#include "common.h"

int main(int argc, char** argv) {
  int provided, rank, ranks, unit;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = steps_wanted(argc, argv);
  MPI_Win window;
  MPI_Aint bytes = rank == 0 ? 2 * sizeof(double[NY][NX]) : 0;
  double(*a)[NX], (*b)[NX], (*src)[NX], (*dst)[NX];
  MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &a, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &a);
  src = a, dst = b = a + NY;
  double change = 0, total;

  /* Every rank clears its rows first, so that they lie in memory near it. */
  const int first = NY * rank / ranks, end = NY * (rank + 1) / ranks, lo = larger(first, 1), hi = smaller(end, NY - 1);
  memset(a[first], 0, (end - first) * sizeof *a);
  memset(b[first], 0, (end - first) * sizeof *b);
#pragma omp parallel for
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)y / NY * M_PI);
  MPI_Win_fence(0, window);

  const double start = now();
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int y = lo; y < hi; y++)
      for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
    MPI_Win_fence(0, window);
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  const double seconds = now() - start;

#pragma omp parallel for reduction(+ : change)
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  MPI_Reduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) report(steps, seconds, total);
  MPI_Win_free(&window);
  return MPI_Finalize();
}
