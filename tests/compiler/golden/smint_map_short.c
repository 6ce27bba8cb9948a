#include <smint.h>
#include "check.h"

#define N 100
#pragma SMint shared ::[](1,1); // node1; with one rank, that is rank 0
double vec2[N];

int main(void) {
  if (sms_rank == 0)
    for (int i = 0; i < N; i++) vec2[i] = i;
#pragma SMint barrier
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += vec2[i] != i;
  return verdict(wrong);
}
