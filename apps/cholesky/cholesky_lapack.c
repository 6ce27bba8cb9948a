/* Cholesky by one call of LAPACK (OpenBLAS), with its own threads: the rival. */
#include "cholesky.h"
#include "kernels.h"

static void factor(cholesky* c) {
  kernels_threads(c->run.threads);
  c->info = kernel_potrf(c->n, c->memory, c->n);
  kernels_threads(1);
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_lapack",
                                           .whole = true,
                                           .open = cholesky_private,
                                           .factor = factor};
  cholesky c;
  cholesky_begin(&c, &program, (team){.count = 1}, argc, argv);
  return cholesky_run(&c);
}
