#include <xmp.h>
int f(void) {
  typedef double real;
  static real a[4]:[*];
  return (int)a[1]:[0];
}
// expected: 4:10: `real` is declared in a block, and `a` is allocated before that is entered
// remedy: declare it outside of the function
