/* Point to point: post and wait, sync_image, and the forms of sync_memory and sync_all. */
#include <xmp.h>
#include "check.h"

#define TAG 5
#pragma xmp nodes p[*], r(*)
int a[4]:[*], b:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, before = (me + n - 1) % n, wrong = 0;
  int status = 9, both[2] = {next, before};
  a[0]:[next] = me + 100;
#pragma xmp post(p[next], TAG)
#pragma xmp wait (p[before], TAG)
  wrong += a[0] != before + 100;
  a[1]:[next] = me + 200;
#pragma xmp post (r(next + 1), me)
#pragma xmp wait(r(before + 1))
  wrong += a[1] != before + 200;
  for (int i = 0; i < 20; i++) {
#pragma xmp post(next, i)
  }
  for (int i = 0; i < 20; i++)
#pragma xmp wait
  a[2]:[next] = me + 300;
  if (n > 1)
#pragma xmp sync_images(n == 2 ? 1 : 2, both)
  else {
#pragma xmp sync_memory
  }
  wrong += a[2] != before + 300;
  switch (n) {
    case 1:
#pragma xmp sync_all
      break;
    default:
#pragma xmp sync_images_all
  }
  b:[next] = 1;
  xmp_sync_all(&status);
  wrong += b != 1 || status != XMP_STAT_SUCCESS;
  if (n == 2)
#pragma xmp sync_image(next)
  return verdict(wrong);
  return verdict(wrong);
}
