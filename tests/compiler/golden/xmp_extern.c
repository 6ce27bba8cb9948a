/* Coarrays over two files. Together with xmp_extern-2.c. */
#include <xmp.h>
#include "check.h"

extern int shared_by_both[6]:[*];
extern double value:[2][*];
int shared_by_both[6]:[*] = {1, 2, 3, 4, 5, 6};
void shift_from(int image);

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  xmp_sync_all(0);
  shift_from(next);
  xmp_sync_all(0);
  wrong += shared_by_both[1] != 1 || shared_by_both[5] != 5 || shared_by_both[5]:[next] != 5;
  wrong += value != 2.5 || value:[next % 2][next / 2] != 2.5;
  return verdict(wrong);
}
