/* Global Arrays: each rank works in its block of rows, of which the library keeps the rows of its neighbours as ghosts.
 */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>

#include "common.h"

/* Makes an array of zeroes; sets *part to the row before the first of this rank's, which is a ghost. */
static int grid(char* name, double (**part)[NX]) {
  int sizes[] = {NY, NX}, ghosts[] = {1, 0}, chunk[] = {-1, NX}, extents[2], stride[1];
  const int array = NGA_Create_ghosts(C_DBL, 2, sizes, ghosts, name, chunk);
  GA_Zero(array);
  NGA_Access_ghosts(array, extents, part, stride);
  return array;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(C_DBL, 64 * NX, 64 * NX); /* room for the ghosts on their way */
  const int steps = steps_wanted(argc, argv);
  double(*a)[NX], (*b)[NX];
  int this = grid("a", &a), next = grid("b", &b);
  double(*src)[NX] = a, (*dst)[NX] = b;
  double change = 0;

  int from[2], to[2];
  NGA_Distribution(this, GA_Nodeid(), from, to);
  const int first = from[0] - 1, lo = larger(from[0], 1) - first, hi = smaller(to[0], NY - 2) - first + 1;
#pragma omp parallel for
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++)
      a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)(first + y) / NY * M_PI);
  GA_Sync();

  const double start = now();
  for (int t = 0; t < steps; t++) {
    GA_Update_ghosts(this);
#pragma omp parallel for
    for (int y = lo; y < hi; y++)
      for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
    double(*old)[NX] = src;
    src = dst;
    dst = old;
    const int old_this = this;
    this = next;
    next = old_this;
  }
  const double seconds = now() - start;

#pragma omp parallel for reduction(+ : change)
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  GA_Dgop(&change, 1, "+");
  if (GA_Nodeid() == 0) report(steps, seconds, change);
  GA_Destroy(this);
  GA_Destroy(next);
  GA_Terminate();
  return MPI_Finalize();
}
