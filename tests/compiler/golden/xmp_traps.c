/* What is easily misread: colons that are not images, and images beside other colons. */
#include <xmp.h>
#include "check.h"

#define PICK(c, x, y) ((c) ? (x) : (y))
#define AT(i) :[i]
struct bits {
  int low : 3, high : 5;
};
int a[8]:[*], b:[*];
enum { LAST = 7 };

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, y, t[8];
  struct bits bits = {.low = 1, .high = 2};
  const char* text = "a[0:2]:[1] // :[*]";
  for (int i = 0; i < 8; i++) a[i] = i;
  b = 3;
  xmp_sync_all(0);
  y = bits.low ? a[1]:[next] : b:[next];
  wrong += y != 1;
  y = a[n > 100 ? 2 : 3]:[n > 100 ? 0 : next];
  wrong += y != 3;
  t[0:n > 100 ? 2 : 3] = a[1:n > 100 ? 2 : 3]:[next];
  wrong += t[2] != 3;
  t[b:[next]:2] = a[b:[next] + 1:2]:[b:[next] - 3 + next]; /* sections by values of other images */
  wrong += t[3] != 4 || t[4] != 5;
  y = PICK(me >= 0, a[5]:[next], a[6]:[next]) + a[6] AT(next);
  wrong += y != 11;
  y = PICK(1, PICK(0, 1, b:[next]), 2);
  wrong += y != 3;
  a [ 2 ]
    : [ next ] = 2; /* blanks and lines mean nothing */
  t[:] = a[ : ] : [ next ];
  t[0 : 2] = t[ 2 : 2 : 1 ];
  wrong += t[1] != 3;
  xmp_sync_all(0);
  switch (b:[next]) {
    case LAST: b:[next] = 3; break;
    case 3: a[1]:[me] = 3; /* a label before a coarray */
  }
again:
  a[1]:[me] = 3;
  if (n < 0) goto again;
  __asm__("" : [out] "=r"(y) : [in] "0"(5));
  wrong += y != 5 || text[8] != '1';
  int designated[4] = {[0] = 1, [2 ... 3] = a[4]:[next]};
  wrong += designated[3] != 4;
  xmp_sync_all(0);
  if (me < 0)
    a[0]:[next] = 99;
  else if (me == 0) a[0]:[0] = 0;
  else
    for (int i = 0; i < 1; i++) a[i]:[me] = 0;
  wrong += a[0] != 0 || _Generic(b:[next], int: 0, default: 1) || '[' != 0x5b;
  return verdict(wrong);
}
