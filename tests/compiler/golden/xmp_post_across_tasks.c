/* Within a task, nodes of another one are named: posts and waits by the node, coarrays and locks by the image of the
 * node array that the coarray is on. */
#include <xmp.h>
#include "check.h"

#pragma xmp nodes p[*]
int a[4]:[*];
xmp_lock_t lock:[*];
#pragma xmp coarray on p :: a
#pragma xmp coarray on p :: lock

int main(void) {
  long wrong = 0;
  const int last = xmp_num_nodes() - 1;
  a[0] = a[1] = 0;
  xmp_sync_all(0);
  if (last > 0) {
#pragma xmp task on p[0]
    {
      a[1]:[last] = 7;
#pragma xmp lock(lock:[last])
      a[2]:[last] = 1;
#pragma xmp unlock(lock:[last])
#pragma xmp post(p[last], 3)
#pragma xmp wait(p[last], 4)
      wrong += a[0] != 8;
    }
#pragma xmp task on p[last]
    {
#pragma xmp wait(p[0], 3)
      wrong += a[1] != 7 || a[2] != 1;
      a[0]:[0] = 8;
#pragma xmp post(p[0], 4)
    }
  }
  xmp_sync_all(0);
  return verdict(wrong);
}
