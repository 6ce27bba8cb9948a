/* Pragmas of others, also ones that this compiler does not know, in places where no statement may stand. */
#include <stdio.h>
#pragma once
#pragma pack(push, 1)
struct packed { char c;
#pragma acc nothing here
  int i; };
#pragma pack(pop)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma STDC FP_CONTRACT OFF
#pragma weak not_there
#pragma SMintless barrier
#pragma notSMint shared ::[1](0,1)
extern void not_there(void);
__attribute__((optimize("O3"))) static int sum(const int* v, int n) {
  int s = 0;
#pragma acc parallel loop copyin(v[0:n]) reduction(+:s)
#pragma GCC ivdep
  for (int i = 0; i < n; i++) s += v[i];
#pragma GCC unroll 4
  for (int i = 0; i < n; i++) s ^= v[i];
  return s;
}
int main(void) {
  int v[] = {1,
#pragma acc update
    2, 3};
  if (sum(v, 3) > 100)
#pragma acc wait
    puts("many");
  else
#pragma cuda something
    puts("#pragma SMint barrier");
  return not_there != 0;
}
#pragma GCC diagnostic pop
