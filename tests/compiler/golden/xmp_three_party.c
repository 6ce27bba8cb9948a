/* From one image to another, by a third. */
#include <xmp.h>
#include "check.h"

int a[6]:[*], b[6]:[*], m[3][4]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0;
  int left = (me + n - 1) % n, right = (me + 1) % n;
  for (int i = 0; i < 6; i++) b[i] = 10 * me + i;
  for (int i = 0; i < 12; i++) m[i / 4][i % 4] = 100 * me + i;
  xmp_sync_all(0);
  a[0:2]:[right] = b[2:2]:[left];
  a[5]:[right] = b[5]:[left];
  xmp_sync_all(0);
  int from = (me + 2 * n - 2) % n;
  wrong += a[0] != 10 * from + 2 || a[1] != 10 * from + 3 || a[5] != 10 * from + 5;
  xmp_sync_all(0);
  a[0:3]:[right] += m[:][3]:[left]; /* a column into a row, and added */
  xmp_sync_all(0);
  wrong += a[0] != 10 * from + 2 + 100 * from + 3 || a[2] != 100 * from + 11;
  return verdict(wrong);
}
