/* The second file of xmp_extern.c. */
#include <xmp.h>

extern int shared_by_both[6]:[*];
double value:[2][*] = 2.5;

void shift_from(int image) {
  int got[5];
  got[:] = shared_by_both[0:5]:[image];
  xmp_sync_all(0);
  shared_by_both[1:5] = got[:];
}
