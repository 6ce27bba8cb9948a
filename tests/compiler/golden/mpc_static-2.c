#include <mpc.h>

enum { N = 1000 };
static shared int field[N]::[NPROCS](0, NPROCS);

int sum_of_other_file(void) {
  int sum = 0;
  if (MYPID == 0)
    for (int i = 0; i < N; i++) field[i] = 5;
  mpc_barrier();
  for (int i = 0; i < N; i++) sum += field[i];
  return sum;
}
