/* Waiting for some data, while tasks that use other data go on. */
#include <task.h>
#include "check.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[6], b[6];

int main(void) {
  int wrong = 0;
  for (int i = 0; i < 6; i++) {
#pragma hiroba task out(a[i])
    a[i] = i + 1;
#pragma hiroba task in(a[i]) out(b[i])
    b[i] = 2 * a[i];
  }
#pragma hiroba taskwait in(a[1:2:2], a[0])
  wrong += a[1] != 2 || a[3] != 4 || a[0] != 1;
#pragma hiroba taskwait on(b[5], a[5])
  wrong += b[5] != 12;
  if (wrong == 0) {
#pragma hiroba taskwait
    wrong += b[0] != 2;
  }
  return verdict(wrong);
}
