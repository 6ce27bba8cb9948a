/* Each rank keeps its rows and a copy of the row on either side, and gets the copies while it computes what does not
 * need them. The reduction is that of OpenSHMEM 1.4, for Open MPI 4 knows no newer one. */
#include <shmem.h>

#include "common.h"

static void sweep(int lo, int hi, double (*restrict dst)[NX], double (*restrict src)[NX]) {
#pragma omp parallel for
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
}

static double change, total, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long flags[SHMEM_REDUCE_SYNC_SIZE];

int main(int argc, char** argv) {
  shmem_init();
  const int steps = steps_wanted(argc, argv);
  const int rank = shmem_my_pe(), ranks = shmem_n_pes();
  /* The inner rows are divided, so the rim is a halo that nobody sends. Row 1 here is row `first` of the grid. */
  const int block = (NY - 2 + ranks - 1) / ranks, first = 1 + rank * block, rows = smaller(block, NY - 1 - first);
  double(*a)[NX] = shmem_calloc(block + 2, sizeof *a), (*src)[NX] = a;
  double(*b)[NX] = shmem_calloc(block + 2, sizeof *b), (*dst)[NX] = b;

#pragma omp parallel for
  for (int y = 1; y <= rows; y++)
    for (int x = 1; x < NX - 1; x++)
      a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)(first + y - 1) / NY * M_PI);
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) flags[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();

  const double start = now();
  for (int t = 0; t < steps; t++) {
    if (rank > 0) shmem_double_get_nbi(src[0], src[block], NX, rank - 1);
    if (rank < ranks - 1) shmem_double_get_nbi(src[rows + 1], src[1], NX, rank + 1);
    sweep(2, rows, dst, src);
    shmem_quiet();
    sweep(1, 2, dst, src);
    if (rows > 1) sweep(rows, rows + 1, dst, src);
    shmem_barrier_all();
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  const double seconds = now() - start;

#pragma omp parallel for reduction(+ : change)
  for (int y = 1; y <= rows; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  shmem_double_sum_to_all(&total, &change, 1, 0, 0, ranks, work, flags);
  if (rank == 0) report(steps, seconds, total);
  shmem_free(a);
  shmem_free(b);
  shmem_finalize();
  return 0;
}
