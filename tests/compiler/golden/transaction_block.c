#include <smint.h>
#include <hiroba/transaction.h>

#include "check.h"

#pragma SMint shared ::[1](0,1)
long account[16], moved;

int main(void) {
  int mine = 0;
  long left;
  for (int i = 0; i < 160; i++) {
    int from = i % 16, to = (i + 5) % 16;
#pragma hiroba atomic
    {
      account[from] -= i;
      account[to] += i;
      moved++;
      mine++;
      left = account[from];
    }
    if (left > account[from] + 160 * 160 * NPROCS) mine = 0;
  }
#pragma SMint barrier
  long sum = 0;
  for (int i = 0; i < 16; i++) sum += account[i];
  return verdict((mine != 160) + (sum != 0) + (moved != 160 * NPROCS));
}
