#include "check.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];

int main(void) {
  long wrong = 0;
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) a[i] = i;
#pragma SMint parallel for reduction(+ : wrong)
  for (int i = 0; i < 100; i++) wrong += a[i] != i;
  return verdict(wrong);
}
