/* A declaration that is repeated in a block is that of the shared array. */
#include <smint.h>
#include "check.h"

enum { N = 77 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double grid[N];

static void add(void) {
  extern double grid[];
#pragma SMint parallel for
  for (int i = 0; i < N; i++) grid[i] += i;
}

int main(void) {
  add();
  add();
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += grid[i] != 2 * i;
  return verdict(wrong);
}
