/* Node arrays and tasks: images count in the executing set. */
#include <xmp.h>
#include "check.h"

#define FIRST p
#pragma xmp nodes p[*], all(*)
#pragma xmp nodes one[1] = p[0:1]
int a:[*], b[4]:[*];
int on_p:[*];
#pragma xmp coarray on p :: on_p

static int number(void) { return xmpc_this_image() + 10 * xmp_num_images(); }

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0, seen = 0, last = n - 1;
  a = on_p = me;
  xmp_sync_all(0);
#pragma xmp task on FIRST[last]
  {
    seen = number();
    wrong += a:[0] != last || on_p:[0] != 0;
    b[0]:[0] = 5;
    if (seen != 10) wrong++;
  }
  wrong += (seen == 10) != (me == last);
#pragma xmp task on all(1)
  seen = 20 + number();
  wrong += (seen == 30) != (me == 0);
  for (int i = 0; i < n; i++) {
#pragma xmp task on p[i:n - i] nocomm
    if (me >= i)
      wrong += a:[0] != i || xmpc_this_image() != me - i;
    else
      wrong++;
  }
#pragma xmp tasks
  {
#pragma XMP TASK ON p(1:1)
    b[1] = 1;
#pragma xmp task on p[n > 1:]
    b[1] = 2;
  }
  wrong += b[1] != (n == 1 || me > 0 ? 2 : 1);
#pragma xmp task on one
#pragma xmp barrier
  {
#pragma xmp nodes half[n > 1 ? n / 2 : 1] = p[0:n > 1 ? n / 2 : 1]
#pragma xmp task on half
    {
#pragma xmp nodes inner[*] = *
#pragma xmp task on inner[0]
      wrong += number() != 10 || me != 0;
#pragma xmp barrier
      b[2] = 7;
    }
#pragma xmp nodes everybody[*] = **
#pragma xmp task on everybody
    wrong += number() != me + 10 * n;
  }
  xmp_sync_all(0);
  wrong += b[0]:[last] != 5 || (b[2] == 7) != (me < (n > 1 ? n / 2 : 1));
  return verdict(wrong);
}
