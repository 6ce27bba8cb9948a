/* Compound assignments to other images, with C's conversions, and as values. */
#include <xmp.h>
#include "check.h"

int a[8]:[*], total:[*];
double d[4]:[*];
unsigned char small:[*] = 250;
long long wide:[*] = 1;
_Bool flag:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, y;
  for (int i = 0; i < 8; i++) a[i] = 100 + i;
  for (int i = 0; i < 4; i++) d[i] = i;
  xmp_sync_all(0);
  a[0]:[next] += 5;
  a[1]:[next] -= me - me + 1;
  a[2]:[next] *= 3;
  a[3]:[next] /= 2;
  a[4]:[next] %= 10;
  a[5]:[next] <<= 1;
  a[6]:[next] &= 0x60;
  a[7]:[next] ^= 1;
  d[0]:[next] += 1;
  d[1]:[next] -= 0.5f;
  d[2]:[next] *= 2.5;
  d[3]:[next]++;
  small:[next] += 10;
  wide:[next] |= 1LL << 40;
  flag:[next] |= 1;
  xmp_sync_all(0);
  wrong += a[0] != 105 || a[1] != 100 || a[2] != 306 || a[3] != 51 || a[4] != 4 || a[5] != 210 || a[6] != 0x60;
  wrong += a[7] != 106 || d[0] != 1 || d[1] != 0.5 || d[2] != 5 || d[3] != 4 || small != 4 || flag != 1;
  wrong += wide != (1LL << 40 | 1);
  xmp_sync_all(0);
  a[0]:[next] *= 0.5; /* computed in double, as C does */
  a[1]:[next] += 1.75;
  a[2]:[next] >>= 1;
  xmp_sync_all(0);
  wrong += a[0] != 52 || a[1] != 101 || a[2] != 153;
  for (int image = 0; image < n; image++) total:[image] += me + 1; /* from all to all: none is lost */
  xmp_sync_all(0);
  wrong += total != n * (n + 1) / 2;
  xmp_sync_all(0);

  double e[4];
  e[:] = d[:];
  xmp_sync_all(0);
  a[0:4]:[next] = 10;
  xmp_sync_memory(0);
  a[0:4]:[next] += a[4:4]; /* put-accumulate */
  xmp_sync_memory(0);
  a[0:2:2]:[next] *= 2;
  d[:]:[next] -= e[:];
  xmp_sync_all(0);
  int before = (me + n - 1) % n, sum[4] = {1, 1, 1, 1};
  wrong += a[0] != 2 * (10 + a[4]:[before]) || a[1] != 10 + a[5]:[before] || d[2]:[next] != 0;
  sum[:] += a[0:4]:[next]; /* get-accumulate */
  wrong += sum[1] != 11 + a[5] || sum[3] != 11 + a[7];
  xmp_sync_all(0);

  y = total:[next]++;
  wrong += y != n * (n + 1) / 2;
  y = ++total:[next] + (total:[next] -= 2);
  wrong += y != n * (n + 1) / 2 + 2 + n * (n + 1) / 2;
  total:[next]--, --total:[next];
  xmp_sync_all(0);
  wrong += total != n * (n + 1) / 2 - 2;
  return verdict(wrong);
}
