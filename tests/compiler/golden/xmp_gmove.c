/* gmove: assignments that all images make together, or each by itself. */
#include <xmp.h>
#include "check.h"

int a[6]:[*], b[6], m[3][4]:[*], x:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  for (int i = 0; i < 6; i++) a[i] = 10 * me + i, b[i] = -i;
  for (int i = 0; i < 12; i++) m[i / 4][i % 4] = me;
#pragma xmp gmove
  b[:] = a[::-1];
  wrong += b[0] != 10 * me + 5 || b[5] != 10 * me;
#pragma xmp gmove
  b[::] = a[:]:[next]; /* what was there before, without a barrier */
  wrong += b[5] != 10 * next + 5;
#pragma xmp gmove
  a[0:3] = 3;
  wrong += a[2] != 3;
  xmp_sync_all(0);
#pragma xmp gmove in
  b[0:4] = m[2][:]:[next];
  wrong += b[3] != next;
  xmp_sync_all(0);
#pragma xmp gmove OUT
  m[:][1]:[next] = b[4];
  xmp_sync_all(0);
  wrong += m[2][1] != 10 * me + 4 || m[2][0] != me;
#pragma xmp gmove
  x = a[5]:[0];
  wrong += x != 5;
#pragma xmp gmove
  m = m:[n - 1];
  wrong += m[0][0] != n - 1;
  return verdict(wrong);
}
