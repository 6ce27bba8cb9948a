/* OpenMP's spelling, and OmpSs-2's. */
#include <task.h>
#include "check.h"
#define N 10

#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N];
#pragma SMint shared ::[](0, 1)
int sum;

int main(void) {
  int wrong = 0, n = N;
  for (int i = 0; i < n; i++) {
#pragma hiroba task depend(out : a[i]) depend(inout: b[i:1]) firstprivate(i)
    a[i] = i, b[i] = 2 * i;
  }
#pragma hiroba task depend(in: a[0:n]) depend(out: sum)
  {
    sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
  }
#pragma hiroba task depend(mutexinoutset: sum) in(b[0;n])
  for (int i = 0; i < n; i++) sum += b[i];
#pragma hiroba task depend(mutexinoutset: sum)
  sum += 1000;
#pragma hiroba taskwait depend(in: sum)
  wrong += sum != 1135;
#pragma hiroba taskwait
  return verdict(wrong + (a[N - 1] != N - 1));
}
