/* Images as an array: the first codimension changes fastest. */
#include <xmp.h>
#include "check.h"

int a[4]:[2][*], b:[1][2][*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0;
  for (int i = 0; i < 4; i++) a[i] = 10 * me + i;
  b = me;
  xmp_sync_all(0);
  for (int k = 0; k < n; k++) {
    wrong += a[3]:[k % 2][k / 2] != 10 * k + 3;
    wrong += b:[0][k % 2][k / 2] != k;
    int got[2];
    got[:] = a[1:2]:[k % 2][k / 2];
    wrong += got[0] != 10 * k + 1 || got[1] != 10 * k + 2;
  }
  return verdict(wrong);
}
