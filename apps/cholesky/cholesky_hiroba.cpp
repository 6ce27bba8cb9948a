// Cholesky with Hiroba's tasks: the sequential program, with the tiles that each step reads and writes. Of the tasks
// that can run, those that write the first columns go first, for all others wait for these in the end.
#include <task.hpp>

#include <span>

#include "parts.hpp"

using hiroba::in, hiroba::inout, hiroba::name;

static std::span<double> part(const cholesky* c, int i, int j) {
  return {cholesky_tile(c, i, j), cholesky_numbers(c, i, j)};
}

static void factor(cholesky* c) {
  const auto before = [c](int column) { return hiroba::priority(smaller(c->tiles - column, 32767)); };
  for (int k = 0; k < c->tiles; k++) {
    hiroba::task(inout(part(c, k, k)), before(k), name("potrf"), [=] { cholesky_potrf(c, k); });
    for (int i = k + 1; i < c->tiles; i++)
      hiroba::task(in(part(c, k, k)), inout(part(c, i, k)), before(k), name("trsm"),
                   [=] { cholesky_trsm(c, i, k, cholesky_tile(c, k, k)); });
    for (int j = k + 1; j < c->tiles; j++)
      for (int i = j; i < c->tiles; i++)
        hiroba::task(in(part(c, i, k)), in(part(c, j, k)), inout(part(c, i, j)), before(j), name("update"),
                     [=] { cholesky_update(c, i, j, k, cholesky_tile(c, i, k), cholesky_tile(c, j, k)); });
  }
  hiroba::taskwait();
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_hiroba",
                                           .whole = false,
                                           .open = parts_open,
                                           .close = parts_close,
                                           .factor = factor,
                                           .panel = nullptr,
                                           .thread = hiroba_task_thread,
                                           .rank = turns_rank};
  cholesky c;
  cholesky_begin(&c, &program, task_team(program.name, &argc, &argv), argc, argv);
  return cholesky_run(&c);
}
