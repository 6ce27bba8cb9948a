// Cholesky with Hiroba's tasks: the sequential program, with the tiles that each step reads and writes. Of the tasks
// that can run, those that write the first columns go first, for all others wait for these in the end.
#include <task.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include "../common/tasks.hpp"
#include "cholesky.h"

using hiroba::in, hiroba::inout;

// To and fro: 0, 1, .. ranks-1, ranks-1, .. 1, 0. Round and round, the last rank would have the most work of each turn.
static int to_and_fro(int i, int ranks) {
  const int place = i % (2 * ranks);
  return place < ranks ? place : 2 * ranks - 1 - place;
}

static int rank_of(const cholesky* c, int i, int j) {
  return to_and_fro(i, c->rows) * c->columns + to_and_fro(j, c->columns);
}

// Puts the tiles of each rank into a part of its own. Returns how long a part must be.
static int64_t place_tiles(cholesky* c, double* parts, int64_t length) {
  std::vector<int64_t> used(c->run.team.count);
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) {
      const int rank = cholesky_rank(c, i, j);
      if (parts != nullptr) c->at[i + static_cast<size_t>(j) * c->tiles] = parts + rank * length + used[rank];
      used[rank] += static_cast<int64_t>(cholesky_numbers(c, i, j));
    }
  return *std::max_element(used.begin(), used.end());
}

static void open(cholesky* c) {
  const int64_t page = 4096 / sizeof(double), length = (place_tiles(c, nullptr, 0) / page + 1) * page;
  c->own = task_rows(c->run.team, c->run.team.count, length, sizeof(double), "the matrix");
  place_tiles(c, static_cast<double*>(c->own), length);
}

static void close(cholesky* c) { sms_free(c->own); }

static std::span<double> part(const cholesky* c, int i, int j) {
  return {cholesky_tile(c, i, j), cholesky_numbers(c, i, j)};
}

static void factor(cholesky* c) {
  const auto before = [c](int column) { return hiroba::priority(smaller(c->tiles - column, 32767)); };
  for (int k = 0; k < c->tiles; k++) {
    hiroba::task(inout(part(c, k, k)), before(k), [=] { cholesky_potrf(c, k); });
    for (int i = k + 1; i < c->tiles; i++)
      hiroba::task(in(part(c, k, k)), inout(part(c, i, k)), before(k),
                   [=] { cholesky_trsm(c, i, k, cholesky_tile(c, k, k)); });
    for (int j = k + 1; j < c->tiles; j++)
      for (int i = j; i < c->tiles; i++)
        hiroba::task(in(part(c, i, k)), in(part(c, j, k)), inout(part(c, i, j)), before(j),
                     [=] { cholesky_update(c, i, j, k, cholesky_tile(c, i, k), cholesky_tile(c, j, k)); });
  }
  hiroba::taskwait();
}

int main(int argc, char** argv) {
  static const cholesky_program program = {"cholesky_hiroba", false,       open,   close, factor,
                                           nullptr,           task_thread, rank_of};
  cholesky c;
  cholesky_begin(&c, &program, task_team(program.name, &argc, &argv), argc, argv);
  return cholesky_run(&c);
}
