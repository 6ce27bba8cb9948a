/* Cholesky by tiles in one thread: the algorithm, of which the other programs change who does what. */
#include "cholesky.h"

static void factor(cholesky* c) {
  for (int k = 0; k < c->tiles; k++) {
    cholesky_potrf(c, k);
    for (int i = k + 1; i < c->tiles; i++) cholesky_trsm(c, i, k, cholesky_tile(c, k, k));
    for (int j = k + 1; j < c->tiles; j++)
      for (int i = j; i < c->tiles; i++) cholesky_update(c, i, j, k, cholesky_tile(c, i, k), cholesky_tile(c, j, k));
  }
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_serial", .open = cholesky_private, .factor = factor};
  cholesky c;
  cholesky_begin(&c, &program, (team){.count = 1}, argc, argv);
  return cholesky_run(&c);
}
