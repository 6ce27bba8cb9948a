/* The Himeno benchmark with MPI: the rival. Each rank has a block of rows, and exchanges the rows at its ends after
 * each step, as the original does. */
#include <stdlib.h>

#include "../common/mpi_team.h"
#include "kernel.h"

static void exchange(const himeno* h, const block* b) {
  const int above = h->team.rank > 0 ? h->team.rank - 1 : MPI_PROC_NULL;
  const int below = b->first + b->rows < h->rows ? h->team.rank + 1 : MPI_PROC_NULL;
  const int count = (int)b->row;
  const ptrdiff_t row = (ptrdiff_t)b->row;
  MPI_Request halo[4];
  MPI_Irecv(b->p - row, count, MPI_FLOAT, above, 0, MPI_COMM_WORLD, &halo[0]);
  MPI_Irecv(b->p + b->rows * row, count, MPI_FLOAT, below, 0, MPI_COMM_WORLD, &halo[1]);
  MPI_Isend(b->p, count, MPI_FLOAT, above, 0, MPI_COMM_WORLD, &halo[2]);
  MPI_Isend(b->p + (b->rows - 1) * row, count, MPI_FLOAT, below, 0, MPI_COMM_WORLD, &halo[3]);
  MPI_Waitall(4, halo, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  himeno h;
  double gosa = 0;
  himeno_begin(&h, mpi_team("himeno_mpi", &argc, &argv, MPI_THREAD_SINGLE), argc, argv);
  const int first = h.rows * h.team.rank / h.team.count, end = h.rows * (h.team.rank + 1) / h.team.count;
  block b = block_begin(&h, first, end - first);
  run_start(&h.run, &h.team, 0, h.steps);
  for (int step = 0; step < h.steps; step++) {
    gosa = block_step(&h, &b);
    exchange(&h, &b);
    gosa = team_sum(&h.team, gosa);
  }
  run_stop(&h.run);
  const uint64_t bits = block_bits(&h, &b);
  free(b.memory);
  return himeno_finish(&h, gosa, bits);
}
