#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task depend(iterator(i = 0 : 3), in : a[i])
  a[0] = 1;
}
// expected: 4:21: `iterator(i = 0 : 3), in` in depend(..)
// remedy: write depend(in: x); known are in, out, inout, commutative, concurrent, mutexinoutset, inoutset
