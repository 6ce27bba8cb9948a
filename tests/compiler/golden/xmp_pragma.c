/* Coarrays by directive, as version 1.0 of the specification has them, with keywords in any case and macros. */
#include <xmp.h>
#include "check.h"

#define WIDTH 2
#define MINE c
#pragma xmp nodes p(*)
int a[10], b, matrix[3][4];
int c[5] = {1, 2, 3, 4, 5};
extern int later;
#pragma xmp coarray a,b:[*]
#pragma XMP COARRAY matrix : [WIDTH][*]
# pragma xmp coarray MINE:[*]
int later;
#pragma xmp coarray later:[*]
int bound[2]:[*];
#pragma xmp coarray on p :: bound

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  a[9] = me, b = 2 * me, matrix[2][3] = 3 * me, later = 4 * me, bound[1] = 5 * me;
  xmp_sync_all(0);
  wrong += a[9]:[next] != next || b:[next] != 2 * next || matrix[2][3]:[next % WIDTH][next / WIDTH] != 3 * next;
  wrong += c[4]:[next] != 5 || later:[next] != 4 * next || bound[1]:[next] != 5 * next;
  return verdict(wrong);
}
