/* Tasks create tasks: of the same function, of several levels, with variables of each level. */
#include <task.h>
#include "check.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[12];

static long fib(int n) {
  long x = 0, y = 0;
  if (n < 2) return n;
#pragma hiroba task shared(x) if(n > 4)
  x = fib(n - 1);
#pragma hiroba task out(y)
  {
    y = fib(n - 2);
  }
#pragma hiroba taskwait
  return x + y;
}

int main(void) {
  int from = 3, wrong = 0;
  for (int i = 0; i < 12; i += 4) {
#pragma hiroba task inout(a[i:4])
    {
      int own = 10 * i, also = from;
      for (int j = i; j < i + 4; j++) {
#pragma hiroba task out(a[j])
        a[j] = own + also;
      }
#pragma hiroba task inout(a[i:4]) shared(also)
      {
        also += from;
        for (int j = i; j < i + 4; j++)
#pragma hiroba task inout(a[j]) in(also)
          a[j] += also;
      }
#pragma hiroba taskwait
      own += also;
      a[i] += own;
    }
  }
#pragma hiroba taskwait
  for (int i = 0; i < 12; i++) wrong += a[i] != i / 4 * 40 + 9 + (i % 4 ? 0 : i / 4 * 40 + 6);
  wrong += fib(10) != 55;
  return verdict(wrong);
}
