/* Cholesky with tasks on ranks that send each other tiles in tasks, by the scheme of the A64FX task paper: a
 * communication task starts the messages of a tile, and a synchronisation task with the same dependences waits for
 * them.
 *
 * Why it does not end in a deadlock: order all tasks of all ranks as one thread would create them, step by step. Take
 * the first synchronisation tasks in this order that have not ended: those of one tile, in its sender and its
 * receivers. The tasks before them need only tasks that are before them, too, of which those that synchronise have
 * ended; so all of these are created and end, among them the communication tasks that start the messages. What is left
 * to have is a thread, and there is one: at a time as many synchronisation tasks run as there are slots (figure 5), one
 * less than threads, and those of a slot run in this order. One thread has none to spare; so it runs each task at once
 * when it creates it, which is the order above. */
#include <omp.h>

#include "panels.h"

enum { DEPTH = 4 }; /* a rank can be as many steps ahead of one that still needs the copies */

/* Creates the communication task of tile (i, k). */
static void communicate(cholesky* c, int i, int k, bool later) {
  const double* const tile = panels_tile(c, i, k);
  const MPI_Request* const requests = panels_requests(c, i, k);
  if (!panels_moves(c, i, k)) return;
  if (cholesky_mine(c, i, k)) {
#pragma omp task if (later) depend(in : *tile) depend(out : *requests)
    panels_start(c, i, k);
  } else {
#pragma omp task if (later) depend(out : *tile, *requests)
    panels_start(c, i, k);
  }
}

/* Creates the synchronisation task of tile (i, k). */
static void synchronise(cholesky* c, int i, int k, bool later, mpi_slots* slots) {
  const double* const tile = panels_tile(c, i, k);
  const MPI_Request* const requests = panels_requests(c, i, k);
  if (!panels_moves(c, i, k)) return;
  const char* const slot = mpi_next_slot(slots);
  if (cholesky_mine(c, i, k)) {
#pragma omp task if (later) depend(in : *tile) depend(out : *requests, *slot)
    panels_finish(c, i, k);
  } else {
#pragma omp task if (later) depend(out : *tile, *requests, *slot)
    panels_finish(c, i, k);
  }
}

static void create(cholesky* c, bool later, mpi_slots* slots) {
  for (int k = 0; k < c->tiles; k++) {
    const double* const diagonal = panels_tile(c, k, k);
    if (cholesky_mine(c, k, k)) {
#pragma omp task if (later) depend(inout : *diagonal)
      cholesky_potrf(c, k);
    }
    communicate(c, k, k, later);
    synchronise(c, k, k, later, slots);
    for (int i = k + 1; i < c->tiles; i++) {
      const double* const tile = panels_tile(c, i, k);
      if (cholesky_mine(c, i, k)) {
#pragma omp task if (later) depend(in : *diagonal) depend(inout : *tile)
        cholesky_trsm(c, i, k, diagonal);
      }
    }
    for (int i = k + 1; i < c->tiles; i++) communicate(c, i, k, later);
    for (int i = k + 1; i < c->tiles; i++) synchronise(c, i, k, later, slots);
    for (int index = 0; index < cholesky_triangle(c, k + 1); index++) {
      int i, j;
      cholesky_at_index(c, k + 1, index, &i, &j);
      if (!cholesky_mine(c, i, j)) continue;
      const double *const left = panels_tile(c, i, k), *const right = panels_tile(c, j, k);
      const double* const tile = panels_tile(c, i, j);
#pragma omp task if (later) depend(in : *left, *right) depend(inout : *tile)
      cholesky_update(c, i, j, k, left, right);
    }
  }
}

static void factor(cholesky* c) {
  static mpi_slots slots;
#pragma omp parallel
#pragma omp single
  {
    mpi_slots_open(&slots, omp_get_num_threads());
    create(c, omp_get_num_threads() > 1, &slots);
  }
}

static void open_panels(cholesky* c) { panels_open(c, DEPTH); }

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_mpi_tasks",
                                           .open = open_panels,
                                           .close = panels_close,
                                           .factor = factor,
                                           .panel = panels_gather,
                                           .thread = omp_get_thread_num};
  const team team = mpi_team(program.name, &argc, &argv, MPI_THREAD_MULTIPLE);
  cholesky c;
  cholesky_begin(&c, &program, team, argc, argv);
  return cholesky_run(&c);
}
