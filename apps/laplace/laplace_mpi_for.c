/* The Laplace equation with MPI and the loops of OpenMP, as the data-parallel version of the A64FX task paper: one
 * thread exchanges the edges of the block while the others wait, then all compute, and wait for each other. */
#include <omp.h>

#include "edges.h"

static void exchange(laplace* l, int step, const MPI_Datatype edge[DIRECTIONS]) {
  const double start = team_now();
  MPI_Request requests[2 * DIRECTIONS];
  int count = 0;
  for (int d = 0; d < DIRECTIONS; d++) {
    const int rank = laplace_neighbour(l, d);
    if (rank < 0) continue;
    MPI_Irecv(edge_at(l, step % 2, d, 0, false), 1, edge[d], rank, opposite(d), MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(edge_at(l, step % 2, d, 0, true), 1, edge[d], rank, d, MPI_COMM_WORLD, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  split_add(&l->run.split, 0, LAPLACE_COMM, start);
}

static void steps(void* of, int from, int to) {
  laplace* const l = of;
  MPI_Datatype edge[DIRECTIONS];
  for (int d = 0; d < DIRECTIONS; d++) edge[d] = edge_type(l, d, l->extent[d == UP || d == DOWN]);
#pragma omp parallel
  for (int t = from; t < to; t++) {
#pragma omp master
    exchange(l, t, edge);
#pragma omp barrier
#pragma omp for collapse(2) schedule(static)
    for (int ti = 0; ti < l->tiles[0]; ti++)
      for (int tj = 0; tj < l->tiles[1]; tj++) laplace_tile(l, t, ti, tj, omp_get_thread_num());
  }
  for (int d = 0; d < DIRECTIONS; d++) MPI_Type_free(&edge[d]);
}

int main(int argc, char** argv) {
  laplace l;
  laplace_begin(&l, mpi_team("laplace_mpi_for", &argc, &argv, MPI_THREAD_FUNNELED), omp_get_max_threads(), argc, argv);
  laplace_private(&l);
  return laplace_run(&l, steps);
}
