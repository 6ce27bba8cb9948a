/* Coarrays and the shared arrays of SMint and MpC in one program. */
#include <mpc.h>
#include <smint.h>
#include <xmp.h>
#include "check.h"

enum { N = 100 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double s[N];
double c[N]:[*];
shared int steps::[1](0, 1) = 3;
int last:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, local[N];
#pragma SMint parallel for
  for (int i = 0; i < N; i++) s[i] = i;
  if (me == 0) c[:] = s[:] * steps; /* sections of shared arrays, too */
  last:[next] = s[N - 1] + s[c[1]:[me] > 0 ? 0 : 1] * 0;
  xmp_sync_all(0);
  wrong += c[N - 1]:[0] != 3 * (N - 1) || last != N - 1;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) s[i] = c[i]:[0] + 1;
  local[0:N] = s[:];
  for (int i = 0; i < N; i++) wrong += local[i] != 3 * i + 1;
#pragma SMint single
  {
    s[0] = 7;
    last:[n - 1] = 8;
  }
#pragma xmp barrier
  wrong += s[0] != 7 || last:[n - 1] != 8 || steps != 3;
  return verdict(wrong);
}
