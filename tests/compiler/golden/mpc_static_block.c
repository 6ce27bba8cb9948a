#include <mpc.h>
#include "check.h"

enum { N = 100 };

static int* first(int more) {
  static shared int a[N]::[NPROCS](0, NPROCS);
  if (more) a[0]++;
  return a;
}

static int* second(void) {
  {
    static shared int a[N][2]::[NPROCS][1](0, NPROCS);
    return a[0];
  }
}

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  int wrong = 0;
  for (int turn = 0; turn < NPROCS; turn++) {
    if (turn == MYPID) first(1);
    mpc_barrier();
  }
  wrong += *first(0) < NPROCS;
  wrong += first(0) == second();
  verdict(wrong);
  return mpc_exit();
}
