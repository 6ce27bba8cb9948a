/* The Laplace equation with MPI and the tasks of OpenMP, as the A64FX task paper has it: a task for each tile (figure
 * 3); for each tile at an edge tasks that start its messages, and others that wait for them (figure 4), of which at
 * most threads-1 wait at a time (figure 5). The tiles that need no message are created before the tasks that wait.
 *
 * With one thread tasks run as they are created: all messages of a step are started before one is waited for, in all
 * ranks, so that nobody waits for a message that is never started. */
#include <omp.h>
#include <stdlib.h>

#include "depend.h"
#include "edges.h"

typedef struct edge { /* towards one neighbour */
  int rank;           /* or -1 */
  int parts;          /* tiles along it */
  int part_length;
  MPI_Datatype whole, last;    /* of a part */
  MPI_Request *send, *receive; /* of each part; their addresses are dependences, too */
} edge;

typedef struct work {
  laplace* l;
  depend depend;
  edge edge[DIRECTIONS];
  mpi_slots slots;
  bool defer; /* there is more than one thread */
} work;

static void open_edge(const laplace* l, edge* e, int direction) {
  const int along = direction == UP || direction == DOWN;
  e->rank = laplace_neighbour(l, direction);
  e->parts = l->tiles[along];
  e->part_length = along ? l->run.tile.columns : l->run.tile.rows;
  e->whole = edge_type(l, direction, smaller(e->part_length, l->extent[along]));
  e->last = edge_type(l, direction, l->extent[along] - (e->parts - 1) * e->part_length);
  e->send = malloc((size_t)e->parts * 2 * sizeof *e->send);
  team_agree(&l->run.team, e->send != NULL, TEAM_BAD_INPUT, "no memory for %d messages; use a larger --tile",
             2 * e->parts);
  e->receive = e->send + e->parts;
}

static void close_edge(edge* e) {
  MPI_Type_free(&e->whole);
  MPI_Type_free(&e->last);
  free(e->send);
}

/* The dependence of the tile at part `part` of an edge, or of the layer beyond it. */
static char* beside(const work* w, int step, int direction, int part, bool mine) {
  const bool low = direction == UP || direction == LEFT, row = direction == UP || direction == DOWN;
  const int across = low ? mine - 1 : w->l->tiles[row ? 0 : 1] - mine;
  return depend_tile(&w->depend, step, row ? across : part, row ? part : across);
}

static void create_messages(work* w, int t, int direction, int part) {
  edge* const e = &w->edge[direction];
  const laplace* const l = w->l;
  const MPI_Datatype type = part == e->parts - 1 ? e->last : e->whole;
  double* const from = edge_at(l, t % 2, direction, part * e->part_length, true);
  double* const to = edge_at(l, t % 2, direction, part * e->part_length, false);
  MPI_Request *const send = &e->send[part], *const receive = &e->receive[part];
  const char* const tile = beside(w, t, direction, part, true);
  const char* const layer = beside(w, t, direction, part, false);
  (void)tile, (void)layer;
#pragma omp task if (w->defer) depend(in : tile[0]) depend(out : send[0])
  {
    const double start = team_now();
    MPI_Isend(from, 1, type, e->rank, part * DIRECTIONS + direction, MPI_COMM_WORLD, send);
    split_add(&w->l->run.split, omp_get_thread_num(), LAPLACE_COMM, start);
  }
#pragma omp task if (w->defer) depend(out : layer[0], receive[0])
  {
    const double start = team_now();
    MPI_Irecv(to, 1, type, e->rank, part * DIRECTIONS + opposite(direction), MPI_COMM_WORLD, receive);
    split_add(&w->l->run.split, omp_get_thread_num(), LAPLACE_COMM, start);
  }
}

static void wait_for(work* w, MPI_Request* request) {
  const double start = team_now();
  mpi_sync(request);
  split_add(&w->l->run.split, omp_get_thread_num(), LAPLACE_COMM, start);
}

static void create_waits(work* w, int t, int direction, int part) {
  edge* const e = &w->edge[direction];
  MPI_Request *const send = &e->send[part], *const receive = &e->receive[part];
  const char* const tile = beside(w, t, direction, part, true);
  const char* const layer = beside(w, t, direction, part, false);
  const char *const slot = mpi_next_slot(&w->slots), *const next = mpi_next_slot(&w->slots);
  (void)tile, (void)layer, (void)slot, (void)next;
#pragma omp task if (w->defer) depend(in : tile[0]) depend(out : send[0], slot[0])
  wait_for(w, send);
#pragma omp task if (w->defer) depend(out : layer[0], receive[0], next[0])
  wait_for(w, receive);
}

/* The tiles that need no message in the other ranks' layers, or those that do. */
static void create_tiles(work* w, int t, bool need) {
  laplace* const l = w->l;
  const depend* const d = &w->depend;
  for (int ti = 0; ti < l->tiles[0]; ti++)
    for (int tj = 0; tj < l->tiles[1]; tj++) {
      const bool at_edge = (ti == 0 && w->edge[UP].rank >= 0) || (tj == 0 && w->edge[LEFT].rank >= 0) ||
                           (ti == l->tiles[0] - 1 && w->edge[DOWN].rank >= 0) ||
                           (tj == l->tiles[1] - 1 && w->edge[RIGHT].rank >= 0);
      if (at_edge != need) continue;
      const char *in = depend_tile(d, t, ti, tj), *out = depend_tile(d, t + 1, ti, tj);
      (void)in, (void)out;
#pragma omp task if (w->defer) depend(in : in[0], in[-d->row], in[d->row], in[-1], in[1]) depend(out : out[0])
      laplace_tile(l, t, ti, tj, omp_get_thread_num());
    }
}

static void create_step(work* w, int t) {
  for (int d = 0; d < DIRECTIONS; d++)
    for (int part = 0; w->edge[d].rank >= 0 && part < w->edge[d].parts; part++) create_messages(w, t, d, part);
  create_tiles(w, t, false);
  for (int d = 0; d < DIRECTIONS; d++)
    for (int part = 0; w->edge[d].rank >= 0 && part < w->edge[d].parts; part++) create_waits(w, t, d, part);
  create_tiles(w, t, true);
}

static void steps(void* of, int from, int to) {
  work w = {.l = of};
  w.defer = w.l->run.threads > 1;
  mpi_slots_open(&w.slots, w.l->run.threads);
  depend_open(&w.depend, w.l);
  for (int d = 0; d < DIRECTIONS; d++) open_edge(w.l, &w.edge[d], d);
#pragma omp parallel
#pragma omp single
  for (int t = from; t < to; t++) create_step(&w, t);
  for (int d = 0; d < DIRECTIONS; d++) close_edge(&w.edge[d]);
  depend_close(&w.depend);
}

int main(int argc, char** argv) {
  laplace l;
  laplace_begin(&l, mpi_team("laplace_mpi_tasks", &argc, &argv, MPI_THREAD_MULTIPLE), omp_get_max_threads(), argc,
                argv);
  laplace_private(&l);
  return laplace_run(&l, steps);
}
