#include <xmp.h>
int f(void) {
  static struct { int x; } a:[*], b;
  return a.x:[0] + b.x;
}
// expected: 3:10: this declares a type and several variables, of which one is allocated before the block is entered
// remedy: declare the type outside of the function, or `a` by itself
