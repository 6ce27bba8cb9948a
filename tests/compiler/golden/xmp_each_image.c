/* All images at once: they are the first dimension. */
#include <xmp.h>
#include "check.h"

int a[6]:[*], x:[*], count:[*];
#pragma xmp nodes p[*]

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0, all[4][6], xs[4], sum = 0;
  for (int i = 0; i < 6; i++) a[i] = 10 * me + i;
  x = me;
  xmp_sync_all(0);
  all[0:n][:] = a[:]:[:]; /* gather */
  xs[0:n] = 2 * x:[:] + 1;
  for (int k = 0; k < n; k++) wrong += all[k][5] != 10 * k + 5 || xs[k] != 2 * k + 1;
  xs[0:n] += x:[:];
  for (int k = 0; k < n; k++) sum += xs[k];
  wrong += sum != 3 * n * (n - 1) / 2 + n;
  xmp_sync_all(0);
  count:[:] += 1; /* to everybody */
  if (me == n - 1) x:[:] = 7;
  if (me == 0) a[0:2]:[:] = all[0:n][4:2]; /* scatter */
  xmp_sync_all(0);
  wrong += count != n || x != 7 || a[0] != 10 * me + 4 || a[1] != 10 * me + 5;
#pragma xmp task on p[0]
  {
    xs[0:1] = x:[:];
    wrong += xs[0] != 7;
  }
  return verdict(wrong);
}
