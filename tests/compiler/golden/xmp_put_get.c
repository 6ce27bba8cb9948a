/* Elements and sections: put, get, on one side or both, in one and in more dimensions, with steps. */
#include <xmp.h>
#include "check.h"

int a[8]:[*], m[4][6]:[*], cube[2][3][4]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  int x, local[8] = {0, 1, 2, 3, 4, 5, 6, 7}, l2[4][6] = {{0}}, l3[2][3][4];

  a[2]:[next] = me;
  xmp_sync_all(0);
  x = a[2]:[me];
  wrong += x != (me + n - 1) % n || a[2] != x;
  x = a[2]:[next];
  wrong += x != me;
  xmp_sync_all(0);

  a[0:8]:[next] = local[0:8]; /* contiguous */
  xmp_sync_all(0);
  for (int i = 0; i < 8; i++) wrong += a[i] != i;
  xmp_sync_all(0);
  a[1:3:2]:[next] = local[7:3:-3]; /* steps on both sides */
  xmp_sync_all(0);
  wrong += a[1] != 7 || a[3] != 4 || a[5] != 1 || a[2] != 2;
  local[:] = a[::-1]:[next]; /* backwards, all of it */
  wrong += local[0] != 7 || local[7] != 0 || local[6] != 7;
  local[:3] = a[5:]:[next];
  wrong += local[0] != 1 || local[2] != 7 || local[3] != 4;
  xmp_sync_all(0);

  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++) m[i][j] = 100 * me + 10 * i + j;
  xmp_sync_all(0);
  l2[1:2][2:3] = m[2:2][0:3:2]:[next];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) wrong += l2[1 + i][2 + j] != 100 * next + 10 * (2 + i) + 2 * j;
  l2[3] = m[1]:[next]; /* a row */
  wrong += l2[3][0] != 100 * next + 10 || l2[3][5] != 100 * next + 15;
  l2[0:4][0] = m[:][5]:[next]; /* a column */
  wrong += l2[0][0] != 100 * next + 5 || l2[3][0] != 100 * next + 35;
  l2 = m:[next]; /* everything */
  wrong += l2[3][5] != 100 * next + 35;
  xmp_sync_all(0);

  cube[1][:][1:2]:[next] = m[0:3][4:2];
  xmp_sync_all(0);
  l3[:][:][:] = cube[:][:][:];
  int before = (me + n - 1) % n;
  wrong += l3[1][2][2] != 100 * before + 25 || l3[1][0][1] != 100 * before + 4 || l3[0][0][0] != 0;
  return verdict(wrong);
}
