/* Names that are not the coarrays, though they are spelled the same. */
#include <xmp.h>
#include "check.h"

int a[4]:[*] = {1, 2, 3, 4}, b:[*] = 5;
struct a {
  int a, b[2];
};

static int parameter(int a, int* b) { return a + b[1]; }

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  struct a s = {.a = 1, .b = {2, 3}}, *p = &s;
  int* own = &a[0];
  wrong += parameter(1, s.b) != 4 || p->a != 1 || p->b[1] != 3 || own[3] != 4 || *(a + 1) != 2;
  {
    int a[4] = {9, 9, 9, 9}, b = 1;
    a[0:2] = a[2:2] + b;
    wrong += a[1] != 10;
    own[0:2] = a[0:2];
  }
  for (int b = 0; b < 1; b++) wrong += a[b] != 10;
  a[0] = 1, a[1] = 2;
  xmp_sync_all(0);
  if (me == 0) a:[next] = a; /* all of it, to itself or to the same */
  xmp_sync_all(0);
  wrong += a[3]:[next] != 4 || b:[next] != 5 || sizeof(struct a) != 3 * sizeof(int) || sizeof a / sizeof *a != 4;
  return verdict(wrong);
}
