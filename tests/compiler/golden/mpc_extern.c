/* Together with mpc_extern-2.c. */
#include <mpc.h>
#include "check.h"

enum { N = 1000 };
extern shared int field[N]::[NPROCS](0, NPROCS);
extern shared double total;
shared int own[N]::[NPROCS](0, NPROCS);
void fill(void);

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  fill();
  int wrong = total != 2.5;
  for (int i = 0; i < N; i++) wrong += field[i] != 3 * i || own[i] != i;
  verdict(wrong);
  return mpc_exit();
}
