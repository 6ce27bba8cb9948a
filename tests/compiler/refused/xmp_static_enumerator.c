#include <xmp.h>
int f(void) {
  enum { N = 4 };
  static int a[N]:[*];
  return a[1]:[0];
}
// expected: 4:16: `N` is declared in a block, and `a` is allocated before that is entered
// remedy: declare it outside of the function
