/* A static coarray of a block whose type and extents are declared around it. */
#include <xmp.h>
#include "check.h"

typedef struct point {
  int x, y;
} point;

static int of_function(int me) {
  static const int extent = 3;
  static struct { int x, y; } a[4]:[*];
  static point first:[*] = {1, 2}, other;
  static struct point b:[*];
  static int c[extent]:[*];
  { struct point { double x; } inner = {1}; (void)inner; } /* another one */
  static point last:[*];
  a[1].x = 3 + me, b.y = 4, c[2] = 5, last.x = 6, other.x = 0;
  xmp_sync_all(0);
  return a[1].x:[0] + b.y:[0] + c[2]:[0] + last.x:[0] + first.y:[0] + other.x;
}

int main(void) { return verdict(of_function(xmpc_this_image()) != 20); }
