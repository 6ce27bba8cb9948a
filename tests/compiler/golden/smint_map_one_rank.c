#include <smint.h>
#include "check.h"

#define N 100
#pragma SMint shared ::[1](0,1); // node0
double vec1[N];

int main(void) {
  if (sms_rank == NPROCS - 1)
    for (int i = 0; i < N; i++) vec1[i] = i;
#pragma SMint barrier
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += vec1[i] != i;
  return verdict(wrong);
}
