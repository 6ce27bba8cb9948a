#include <mpc.h>
int f(void) {
  enum { N = 40 };
  static shared int a[N]::[NPROCS](0, NPROCS);
  return a[1];
}
// expected: 4:23: `N` is declared in a block, and `a` is allocated before that is entered
// remedy: declare it outside of the function
