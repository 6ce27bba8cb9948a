// The Laplace equation with Hiroba's tasks: the sequential program, with what each tile reads and writes. All ranks
// create all tasks; which of them run here, in which order, and what moves between ranks is the runtime's.
//
// The order of creation is another one than in the other variants: DEPTH steps of a row of tiles follow each other
// closely, each one row of tiles after the step before, so that the second one finds in the cache what the first one
// has read and written. With loops over steps this takes a barrier for each row of tiles.
#include <task.hpp>

#include <vector>

#include "../common/tasks.hpp"
#include "laplace.h"

using hiroba::in, hiroba::inout;
enum { DEPTH = 8 };

// All points, in rows that are divided among the ranks. As a laplace it is the block of this rank.
struct shared : laplace {
  double* array[2];
  std::vector<int> cuts;  // the first row of each row of tiles, none of which lies on two ranks; and --size

  // Of all points.
  hiroba::tile_view<double> tile(int step, int i, int j) const {
    const int rows = static_cast<int>(cuts.size()) - 1, column = j * run.tile.columns;
    if (i < 0 || j < 0 || i >= rows || column >= run.size) return {};
    return {array[step % 2] + cuts[i] * pitch + column, cuts[i + 1] - cuts[i],
            smaller(run.tile.columns, run.size - column), pitch};
  }
};

static void open(shared* s) {
  laplace_divide_rows(s);
  for (int f = 0; f < 2; f++) {
    s->array[f] =
        static_cast<double*>(shared_rows(&s->run.team, s->run.size, s->pitch, sizeof(double), s->run.team.program));
    s->field[f] = s->array[f] + s->first[0] * s->pitch;
  }
}

static void cut(shared* s) {
  const int n = s->run.size, share = (n - 1) / s->run.team.count + 1;
  s->cuts.clear();
  for (int first = 0; first < n; first += share)
    for (int i = first; i < smaller(first + share, n); i += s->run.tile.rows) s->cuts.push_back(i);
  s->cuts.push_back(n);
}

// A tile of which some points are on the rim is not written as a whole, so `out` would be wrong.
static void create(const shared* s, laplace* all, int t, int i, int j) {
  hiroba::task(in(s->tile(t, i, j)), in(s->tile(t, i - 1, j).south()), in(s->tile(t, i + 1, j).north()),
               in(s->tile(t, i, j - 1).east()), in(s->tile(t, i, j + 1).west()), inout(s->tile(t + 1, i, j)), [=] {
                 const int column = j * all->run.tile.columns;
                 laplace_box(all, t, s->cuts[i], s->cuts[i + 1], column, column + all->run.tile.columns,
                             hiroba_task_thread());
               });
}

static void steps(void* of, int from, int to) {
  shared* const s = static_cast<shared*>(static_cast<laplace*>(of));
  sms_barrier();  // all points have their start
  cut(s);
  laplace all = *s;
  const int rows = static_cast<int>(s->cuts.size()) - 1, n = s->run.size;
  for (int d = 0; d < 2; d++) all.field[d] = s->array[d], all.lowest[d] = 1, all.end[d] = n - 1;
  for (int first = from; first < to; first += DEPTH)
    for (int wave = 0; wave < rows + DEPTH - 1; wave++)
      for (int t = first; t < smaller(first + DEPTH, to); t++)
        for (int i = wave - (t - first), j = 0; i >= 0 && i < rows && j * all.run.tile.columns < n; j++)
          create(s, &all, t, i, j);
  hiroba::taskwait();
}

int main(int argc, char** argv) {
  shared s;
  laplace_begin(&s, task_team("laplace_hiroba", &argc, &argv), omp_get_max_threads(), argc, argv);
  open(&s);
  return laplace_run(&s, steps);
}
