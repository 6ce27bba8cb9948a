#include <smint.h>
#include "check.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int turns[100];

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  int wrong = 0;
  for (int t = 0; t < 5; t++) {
    turns[sms_rank] = t;
#pragma SMint barrier
    wrong += turns[(sms_rank + 1) % sms_nprocs] != t;
#pragma SMint barrier
  }
  if (wrong >= 0) {
    #pragma SMint barrier
  }
  return verdict(wrong);
}
