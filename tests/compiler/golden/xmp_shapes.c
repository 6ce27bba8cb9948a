/* Sections of different ranks with as many elements, spread values, overlap on one image. */
#include <xmp.h>
#include "check.h"

int a[12]:[*], m[3][4]:[*];
long wide[12]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, line[12], box[3][1][4];
  for (int i = 0; i < 12; i++) a[i] = m[i / 4][i % 4] = i, wide[i] = 0;
  xmp_sync_all(0);
  line[:] = m[:][:]:[next];
  wrong += line[11] != 11 || line[4] != 4;
  m:[next] = a[::-1];
  xmp_sync_all(0);
  wrong += m[0][0] != 11 || m[2][3] != 0 || m[1][0] != 7;
  box[:][0][:] = m[:][:]:[next];
  line[0:4] = m[2][:]:[next];
  wrong += box[1][0][0] != 7 || line[3] != 0 || line[0] != 3;
  box[:][:][:] = m[:][:];
  wrong += box[2][0][1] != 2;
  xmp_sync_all(0);
  a[2:8]:[next] = a[0:8]:[next]; /* overlapping, there */
  wide[1:4]:[next] = 3 * me;
  wide[5:4]:[next] = a[0]:[next];
  m[:][1:2]:[next] = -1;
  xmp_sync_all(0);
  int before = (me + n - 1) % n;
  wrong += a[2] != 0 || a[9] != 7 || a[10] != 10 || wide[4] != 3 * before || wide[5] != 0 || wide[0] != 0;
  wrong += m[2][2] != -1 || m[0][0] != 11 || m[1][3] != 4;
  wide[:] = a[:]:[next]; /* int to long */
  wrong += wide[9] != 7;
  return verdict(wrong);
}
