#include <smint.h>
#include "check.h"

enum { N = 3000 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], who[N];
#pragma SMint shared ::[1](0, 1)
int copy[N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = i, who[i] = sms_rank;
  int strange = 0;
#pragma SMint parallel for affinity(a[i]) reduction(+ : strange)
  for (int i = 0; i < N; i++) {
    copy[i] = a[i];
    strange += who[i] != sms_rank;
  }
  int wrong = strange;
  for (int i = 0; i < N; i++) wrong += copy[i] != i;
  return verdict(wrong);
}
