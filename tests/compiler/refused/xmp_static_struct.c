#include <xmp.h>
int f(void) {
  struct pair {
    int x, y;
  };
  static struct pair a[4]:[*];
  return a[1].x:[0];
}
// expected: 6:17: `pair` is declared in a block, and `a` is allocated before that is entered
// remedy: declare it outside of the function
