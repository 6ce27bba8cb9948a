#include <mpc.h>

enum { N = 1000 };
shared int field[N]::[NPROCS](0, NPROCS);
shared double total;
extern shared int own[N]::[NPROCS](0, NPROCS);

void fill(void) {
  if (MYPID == 0) {
    for (int i = 0; i < N; i++) field[i] = 3 * i;
    for (int i = 0; i < N; i++) own[i] = i;
    total = 2.5;
  }
  mpc_barrier();
}
