#include <mpc.h>
#include "check.h"

shared int counter;
shared double half::[1](0, 1);
shared unsigned char letter;

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  for (int turn = 0; turn < NPROCS; turn++) {
    if (turn == MYPID) counter++;
    mpc_barrier();
  }
  if (MYPID == 0) {
    half = 0.5;
    letter = 'x';
  }
  mpc_barrier();
  verdict((counter != NPROCS) + (half != 0.5) + (letter != 'x') + (sizeof counter != sizeof(int)));
  return mpc_exit();
}
