/* Bodies that attract each other, with MPI and the loops of OpenMP: after every step one thread brings the places of
 * all bodies to all ranks, while the other threads wait. */
#include <omp.h>
#include <stdlib.h>

#include "../common/mpi_team.h"
#include "nbody.h"

typedef struct shares {
  int *counts, *starts; /* of each rank, in numbers */
} shares;

static shares share_out(const nbody* n) {
  const int ranks = n->run.team.count;
  shares s = {malloc((size_t)ranks * sizeof(int)), malloc((size_t)ranks * sizeof(int))};
  team_agree(&n->run.team, s.counts != NULL && s.starts != NULL, TEAM_BAD_INPUT, "no memory for %d ranks", ranks);
  for (int r = 0; r < ranks; r++) {
    const int tile = n->run.tile.rows, end = smaller(nbody_first_strip(n, r + 1) * tile, n->run.size);
    s.starts[r] = 3 * smaller(nbody_first_strip(n, r) * tile, end);
    s.counts[r] = 3 * end - s.starts[r];
  }
  return s;
}

static void exchange(nbody* n, int step, const shares* s) {
  const double start = team_now();
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, n->position[(step + 1) % 2], s->counts, s->starts,
                 n->floats ? MPI_FLOAT : MPI_DOUBLE, MPI_COMM_WORLD);
  split_add(&n->run.split, 0, NBODY_COMM, start);
}

static void steps(void* of, int from, int to) {
  nbody* const n = of;
  const shares s = share_out(n);
#pragma omp parallel
  for (int t = from; t < to; t++) {
#pragma omp for schedule(static)
    for (int target = n->first; target < n->end; target++) {
      for (int source = 0; source < n->strips; source++) nbody_force(n, t, target, source, omp_get_thread_num());
      nbody_move(n, t, target, omp_get_thread_num());
    }
#pragma omp master
    exchange(n, t, &s);
#pragma omp barrier
  }
  free(s.counts);
  free(s.starts);
}

int main(int argc, char** argv) {
  nbody n;
  nbody_begin(&n, mpi_team("nbody_mpi_for", &argc, &argv, MPI_THREAD_FUNNELED), omp_get_max_threads(), argc, argv);
  nbody_private(&n);
  return nbody_run(&n, steps);
}
