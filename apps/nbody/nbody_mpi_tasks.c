/* Bodies that attract each other, with MPI and the tasks of OpenMP, as the A64FX task paper has it: a task for the
 * forces of each strip on each strip, a task that moves a strip; for each strip tasks that send it to all other ranks,
 * or receive it, as soon as it has been moved, and others that wait for these messages, of which at most threads-1 wait
 * at a time (figure 5).
 *
 * With one thread tasks run as they are created: all messages of a step are started before one is waited for, in all
 * ranks, so that nobody waits for a message that is never started. */
#include <omp.h>
#include <stdlib.h>

#include "../common/mpi_team.h"
#include "depend.h"

typedef struct work {
  nbody* n;
  depend depend;
  MPI_Request* requests; /* of each strip as many as there are other ranks; a strip of another rank uses the first */
  mpi_slots slots;
  bool defer; /* there is more than one thread */
} work;

static MPI_Request* request_of(const work* w, int strip, int other) {
  return w->requests + (ptrdiff_t)strip * larger(w->n->run.team.count - 1, 1) + other;
}

/* The other ranks are numbered without this one. */
static int rank_of(const work* w, int other) { return other + (other >= w->n->run.team.rank); }

static void send_or_receive(work* w, int step, int strip, int rank, bool send, MPI_Request* request) {
  nbody* const n = w->n;
  const double start = team_now();
  void* const at = nbody_strip(n, n->position[(step + 1) % 2], strip);
  const int count = 3 * nbody_strip_bodies(n, strip);
  const MPI_Datatype type = n->floats ? MPI_FLOAT : MPI_DOUBLE;
  if (send) MPI_Isend(at, count, type, rank, strip, MPI_COMM_WORLD, request);
  else MPI_Irecv(at, count, type, rank, strip, MPI_COMM_WORLD, request);
  split_add(&n->run.split, omp_get_thread_num(), NBODY_COMM, start);
}

static void wait_for(work* w, MPI_Request* request) {
  const double start = team_now();
  mpi_sync(request);
  split_add(&w->n->run.split, omp_get_thread_num(), NBODY_COMM, start);
}

static void create_forces(work* w, int t, int target) {
  nbody* const n = w->n;
  const char *at = depend_position(&w->depend, t, target), *next = depend_position(&w->depend, t + 1, target);
  const char* const force = depend_force(&w->depend, target);
  (void)at, (void)next, (void)force;
  for (int source = 0; source < n->strips; source++) {
    const char* const of = depend_position(&w->depend, t, source);
    (void)of;
#pragma omp task if (w->defer) depend(in : at[0], of[0]) depend(inout : force[0])
    nbody_force(n, t, target, source, omp_get_thread_num());
  }
#pragma omp task if (w->defer) depend(in : at[0]) depend(out : next[0]) depend(inout : force[0])
  nbody_move(n, t, target, omp_get_thread_num());
}

/* A strip of this rank goes to all others. */
static void create_sends(work* w, int t, int strip) {
  const char* const next = depend_position(&w->depend, t + 1, strip);
  (void)next;
  for (int other = 0; other < w->n->run.team.count - 1; other++) {
    MPI_Request* const request = request_of(w, strip, other);
#pragma omp task if (w->defer) depend(in : next[0]) depend(out : request[0])
    send_or_receive(w, t, strip, rank_of(w, other), true, request);
  }
}

static void create_receive(work* w, int t, int strip, int rank) {
  const char* const next = depend_position(&w->depend, t + 1, strip);
  MPI_Request* const request = request_of(w, strip, 0);
  (void)next;
#pragma omp task if (w->defer) depend(out : next[0], request[0])
  send_or_receive(w, t, strip, rank, false, request);
}

static void create_waits(work* w, int t, int strip, bool mine) {
  const char* const next = depend_position(&w->depend, t + 1, strip);
  (void)next;
  for (int other = 0; mine && other < w->n->run.team.count - 1; other++) {
    MPI_Request* const request = request_of(w, strip, other);
    const char* const slot = mpi_next_slot(&w->slots);
    (void)slot;
#pragma omp task if (w->defer) depend(in : next[0]) depend(out : request[0], slot[0])
    wait_for(w, request);
  }
  if (mine) return;
  MPI_Request* const request = request_of(w, strip, 0);
  const char* const slot = mpi_next_slot(&w->slots);
  (void)slot;
#pragma omp task if (w->defer) depend(out : next[0], request[0], slot[0])
  wait_for(w, request);
}

static void create_step(work* w, int t) {
  nbody* const n = w->n;
  for (int rank = 0; rank < n->run.team.count; rank++)
    for (int strip = nbody_first_strip(n, rank); strip < nbody_first_strip(n, rank + 1); strip++)
      if (rank != n->run.team.rank) create_receive(w, t, strip, rank);
  for (int strip = n->first; strip < n->end; strip++) {
    create_forces(w, t, strip);
    create_sends(w, t, strip);
  }
  for (int strip = 0; strip < n->strips; strip++) create_waits(w, t, strip, strip >= n->first && strip < n->end);
}

static void steps(void* of, int from, int to) {
  work w = {.n = of};
  w.defer = w.n->run.threads > 1;
  mpi_slots_open(&w.slots, w.n->run.threads);
  depend_open(&w.depend, w.n);
  w.requests = malloc((size_t)w.n->strips * (size_t)larger(w.n->run.team.count - 1, 1) * sizeof *w.requests);
  team_agree(&w.n->run.team, w.requests != NULL, TEAM_BAD_INPUT, "no memory for the requests; use a larger --tile");
#pragma omp parallel
#pragma omp single
  for (int t = from; t < to; t++) create_step(&w, t);
  free(w.requests);
  depend_close(&w.depend);
}

int main(int argc, char** argv) {
  nbody n;
  nbody_begin(&n, mpi_team("nbody_mpi_tasks", &argc, &argv, MPI_THREAD_MULTIPLE), omp_get_max_threads(), argc, argv);
  nbody_private(&n);
  return nbody_run(&n, steps);
}
