/* Bodies that attract each other, with SMint's directives only: the loops of the sequential program over strips, each
 * iteration of which becomes a task. Which one waits for which, and what moves between ranks, follows from the
 * subscripts. */
#include <omp.h>
#include <smint.h>
#include <string.h>
#include <task.h>

#include "../common/memory.h"
#include "../common/shared.h"
#include "nbody.h"

static nbody n;

static long strip_bytes(void) { return 3L * n.run.tile.rows * (long)(n.floats ? sizeof(float) : sizeof(double)); }

/* A row for each strip. */
static void* allocate(int rows, long bytes) {
  const int parts = smaller(rows, NPROCS);
#pragma SMint shared ::[rows : parts][bytes : ](0, NPROCS)
  char(*strips)[bytes] = NULL;
  memset(strips + n.first, 0, (size_t)(n.end - n.first) * (size_t)bytes);
  shared_written();
  return strips;
}

static void share(nbody* of) {
  void** const arrays[] = {&of->position[0], &of->position[1], &of->velocity, &of->force};
  memory_check(&of->run.team, 4.0 * (of->end - of->first) * (double)strip_bytes(), of->run.team.program);
  for (int i = 0; i < 4; i++) {
    sms_free(*arrays[i]);
    *arrays[i] = allocate(of->strips, strip_bytes());
  }
}

static void attract(void* force, const void* at, const void* of, int target, int source) {
  nbody_attract(&n, force, at, of, target, source, hiroba_task_thread());
}

static void advance(void* to, const void* at, void* velocity, void* force, int step, int strip) {
  nbody_advance(&n, to, at, velocity, force, step, strip, hiroba_task_thread());
}

static void steps(void* of, int from, int to) {
  const nbody* const job = of;
  const int strips = job->strips;
  const long bytes = strip_bytes();
  char(*now)[bytes] = job->position[from % 2], (*next)[bytes] = job->position[(from + 1) % 2];
  char(*velocity)[bytes] = job->velocity, (*force)[bytes] = job->force;
#pragma SMint barrier
  for (int t = from; t < to; t++) {
#pragma SMint parallel for tasks tile(1, 1)
    for (int target = 0; target < strips; target++)
      for (int source = 0; source < strips; source++) attract(force[target], now[target], now[source], target, source);
#pragma SMint parallel for tasks tile(1)
    for (int strip = 0; strip < strips; strip++)
      advance(next[strip], now[strip], velocity[strip], force[strip], t, strip);
    char(*swap)[bytes] = now;
    now = next, next = swap;
  }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  team team = shared_team();
  team.program = "nbody_auto";
  nbody_begin(&n, team, omp_get_max_threads(), argc, argv);
  n.share = share;
  nbody_private(&n);
  return nbody_run(&n, steps);
}
