#include <xmp.h>
int f(int n) {
  static int a[n]:[*];
  return a[1]:[0];
}
// expected: 3:16: `n` is declared in a block, and `a` is allocated before that is entered
// remedy: declare it outside of the function
