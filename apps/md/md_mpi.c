/* Molecular dynamics with cells, with MPI: each rank has its layers, and one more below and above, into which it
 * receives what it needs of those that other ranks have there. */
#include <stdlib.h>

#include "../common/mpi_team.h"
#include "md.h"

typedef struct variant {
  md md;
  layer below, above;
  int down, up; /* the ranks that have the layers there */
} variant;

static void exchange(const void* data, size_t bytes, int to, void* received, size_t room, int from) {
  MPI_Sendrecv(data, (int)bytes, MPI_BYTE, to, 0, received, (int)room, MPI_BYTE, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static size_t used(const box* box) { return sizeof *box + (size_t)box->count * sizeof box->of[0]; }

static int move(variant* v, double kick) {
  md* const m = &v->md;
  double clock = team_now();
  int fault = 0;
  for (int z = m->first; z < m->end; z++) fault = larger(fault, md_drift(m, &m->layers[z], z, kick));
  clock = split_add(&m->run.split, 0, MD_MOVE, clock);
  const box *const up = m->layers[m->end - 1].leaving[MD_UP], *const down = m->layers[m->first].leaving[MD_DOWN];
  exchange(up, used(up), v->up, v->below.leaving[MD_UP], m->box_bytes, v->down);
  exchange(down, used(down), v->down, v->above.leaving[MD_DOWN], m->box_bytes, v->up);
  clock = split_add(&m->run.split, 0, MD_COMM, clock);
  for (int z = m->first; z < m->end; z++) {
    const layer* const below = z > m->first ? &m->layers[z - 1] : &v->below;
    const layer* const above = z < m->end - 1 ? &m->layers[z + 1] : &v->above;
    fault = larger(fault, md_arrive(m, &m->layers[z], below->leaving[MD_UP], above->leaving[MD_DOWN]));
  }
  split_add(&m->run.split, 0, MD_MOVE, clock);
  return fault;
}

static void compute(variant* v, double rest, double energy[2]) {
  md* const m = &v->md;
  split* const split = &m->run.split;
  double clock = team_now();
  exchange(m->layers[m->first].x, m->place_bytes, v->down, v->above.x, m->place_bytes, v->up);
  clock = split_add(split, 0, MD_COMM, clock);
  for (int z = m->first; z < m->end; z++) {
    const layer* const above = z < m->end - 1 ? &m->layers[z + 1] : &v->above;
    energy[0] += md_forces(m, &m->layers[z], above, z == m->cells - 1);
  }
  clock = split_add(split, 0, MD_FORCE, clock);
  exchange(m->layers[m->end - 1].up, m->force_bytes, v->up, v->below.up, m->force_bytes, v->down);
  clock = split_add(split, 0, MD_COMM, clock);
  for (int z = m->first; z < m->end; z++)
    energy[1] += md_finish(m, &m->layers[z], z > m->first ? m->layers[z - 1].up : v->below.up, rest);
  split_add(split, 0, MD_MOVE, clock);
}

static void steps(void* of, int from, int to) {
  variant* const v = of;
  md* const m = &v->md;
  if (m->first == m->end) return; /* more ranks than layers */
  if (from == 0) compute(v, 0, m->energy);
  for (int step = from; step < to; step++) {
    m->fault = larger(m->fault, move(v, step == 0 ? m->step / 2 : m->step));
    compute(v, m->step / 2, m->energy + 2 * (step + 1));
  }
}

int main(int argc, char** argv) {
  variant v;
  md* const m = &v.md;
  md_begin(m, mpi_team("md_mpi", &argc, &argv, MPI_THREAD_FUNNELED), 1, argc, argv);
  const int mine = m->end - m->first, rank = m->run.team.rank;
  const int ranks = (m->cells - 1) / md_share(m, m->run.team.count) + 1; /* that have layers */
  v.up = (rank + 1) % ranks;
  v.down = (rank + ranks - 1) % ranks;
  char* const memory = md_memory(m, mine + 2);
  for (int z = m->first; z < m->end; z++) {
    m->layers[z] = md_layer(m, memory + (size_t)(z - m->first) * m->layer_bytes);
    md_fill(m, z);
  }
  v.below = md_layer(m, memory + (size_t)mine * m->layer_bytes);
  v.above = md_layer(m, memory + (size_t)(mine + 1) * m->layer_bytes);
  const int status = md_run(m, steps);
  free(memory);
  return status;
}
