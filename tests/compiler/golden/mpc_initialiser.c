#include <mpc.h>
#include "check.h"

shared int primes[6]::[NPROCS](0, NPROCS) = {2, 3, 5, 7, 11, 13};
shared double grid[2][3]::[1][1](0, 1) = {
  {1, 2, 3},
  {4, 5, 6},
};
shared int answer = 42, sparse[1000]::[NPROCS](0, NPROCS) = {[10] = 1, [999] = 2};
shared struct { int a; const char* name; } pair = {.a = 3, .name = "x"};

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  const int expected[] = {2, 3, 5, 7, 11, 13};
  int wrong = answer != 42 || pair.a != 3;
  for (int i = 0; i < 6; i++) wrong += primes[i] != expected[i];
  for (int i = 0; i < 6; i++) wrong += grid[i / 3][i % 3] != i + 1;
  for (int i = 0; i < 1000; i++) wrong += sparse[i] != (i == 10) + 2 * (i == 999);
  verdict(wrong);
  return mpc_exit();
}
