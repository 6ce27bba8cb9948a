// Bodies that attract each other, with Hiroba's tasks: the sequential program, with what each strip reads and writes.
// All but the masses is shared; a strip's forces are computed on the rank on which they are at home.
#include <task.hpp>

#include <span>

#include "../common/tasks.hpp"
#include "nbody.h"

using hiroba::in, hiroba::inout, hiroba::out;

static void share(nbody* n) {
  for (void** array : {&n->position[0], &n->position[1], &n->velocity, &n->force}) {
    sms_free(*array);
    *array = shared_rows(&n->run.team, n->strips, 3 * n->run.tile.rows, n->floats ? sizeof(float) : sizeof(double),
                         n->run.team.program);
  }
}

// The numbers of a strip, as bytes.
static std::span<char> part(const nbody* n, void* array, int strip) {
  const size_t numbers = 3 * static_cast<size_t>(nbody_strip_bodies(n, strip));
  return {static_cast<char*>(nbody_strip(n, array, strip)), numbers * (n->floats ? sizeof(float) : sizeof(double))};
}

static void steps(void* of, int from, int to) {
  nbody* const n = static_cast<nbody*>(of);
  sms_barrier();  // all strips have their start
  for (int t = from; t < to; t++)
    for (int target = 0; target < n->strips; target++) {
      void *const now = n->position[t % 2], *const next = n->position[(t + 1) % 2];
      const auto force = part(n, n->force, target), velocity = part(n, n->velocity, target);
      for (int source = 0; source < n->strips; source++)
        hiroba::task(in(part(n, now, target)), in(part(n, now, source)), inout(force),
                     [=] { nbody_force(n, t, target, source, hiroba_task_thread()); });
      hiroba::task(in(part(n, now, target)), inout(force), inout(velocity), out(part(n, next, target)),
                   [=] { nbody_move(n, t, target, hiroba_task_thread()); });
    }
  hiroba::taskwait();
}

int main(int argc, char** argv) {
  nbody n;
  nbody_begin(&n, task_team("nbody_hiroba", &argc, &argv), omp_get_max_threads(), argc, argv);
  n.share = share;
  nbody_private(&n);
  return nbody_run(&n, steps);
}
