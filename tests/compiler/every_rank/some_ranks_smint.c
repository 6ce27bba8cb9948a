/* The same for the directives of SMint. */
#include <smint.h>
#include <stdio.h>
#define N 100
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N];

static void fill(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = i;
}

int main(int argc, char** argv) {
  const int me = MYPID, root = me == 0;
  if (MYPID == 0) {
#pragma SMint barrier /* some ranks */
  }
  if (root) fill(); /* some ranks */
  if (me > 0 || argc > 3) {
#pragma SMint parallel for /* some ranks */
    for (int i = 0; i < N; i++) a[i] += i;
  } else {
    puts(argv[0]);
  }
  for (int step = 0; step < 3; step++) {
    if (sms_rank == 1) continue;
#pragma SMint single /* some ranks */
    a[0] += 1;
  }
  int lines = 0;
#pragma SMint single copy(lines)
  if (MYPID == 0) lines = 3;
  if (lines == 3) fill();
  if (NPROCS > 1) {
#pragma SMint barrier
  }
  for (int i = MYPID; i < N; i += NPROCS) a[i] = root ? 1 : 2;
#pragma SMint barrier
  if (MYPID == 0) printf("%g\n", a[1]);
}
