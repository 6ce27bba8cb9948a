/* A static array of each of two files may have one name. Together with mpc_static-2.c. */
#include <mpc.h>
#include "check.h"

enum { N = 1000 };
static shared int field[N]::[NPROCS](0, NPROCS);
shared static int other[N]::[NPROCS](0, NPROCS);
int sum_of_other_file(void);

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == 0)
    for (int i = 0; i < N; i++) other[i] = field[i] = i;
  mpc_barrier();
  int wrong = sum_of_other_file() != 5 * N;
  for (int i = 0; i < N; i++) wrong += field[i] != i || other[i] != i;
  verdict(wrong);
  return mpc_exit();
}
