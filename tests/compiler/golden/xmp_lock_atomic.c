/* Locks and atomics, which take what they work on by name. */
#include <xmp.h>
#include "check.h"

xmp_lock_t l:[*], several[3]:[*];
int count:[*], ticket:[*], flags[4]:[*];
long big:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, x = 0, got;
  for (int i = 0; i < 50; i++) {
#pragma xmp lock(l:[0])
    count:[0] = count:[0] + 1;
#pragma xmp unlock(l:[0])
  }
#pragma xmp lock(several[1 + 1])
#pragma xmp unlock (several[2])
#pragma xmp lock(several[0]:[me]) acquired_lock(got)
  wrong += got != 1;
  if (got)
#pragma xmp unlock(several[0]:[me])
  xmp_sync_all(0);
  wrong += count:[0] != 50 * n;
  xmp_atomic_define(flags[2]:[next], me + 1);
  do xmp_atomic_ref(&x, flags[2]);
  while (x == 0);
  wrong += x != (me + n - 1) % n + 1;
  int mine = xmp_atomic_fetch_add(ticket:[0], 1);
  wrong += mine < 0 || mine >= n;
  big = 1;
  xmp_sync_all(0);
  wrong += ticket:[0] != n;
  wrong += xmp_atomic_cas(big:[me], 1, 1L << 40) != 1 || xmp_atomic_cas(big, 5, 6) != 1L << 40;
  xmp_sync_all(0);
  wrong += big:[next] != 1L << 40;
  return verdict(wrong);
}
