#include <mpc.h>
int f(void) {
  typedef double real;
  static shared real a[40]::[NPROCS](0, NPROCS);
  return (int)a[1];
}
// expected: 4:17: `real` is declared in a block, and `a` is allocated before that is entered
// remedy: declare it outside of the function
