#include <smint.h>
#include <task.h>
#pragma SMint shared ::[](0,1)
int out;
int main(void) {
  int n = 3;
  double a[n];
  __typeof__(a) b;
  b[0] = 1;
#pragma hiroba task out(out)
  out = b[0];
  return 0;
}
// expected: 10:1: the task cannot have `b`, because its type follows from that of `a`, which is known in the function
//     only
// remedy: declare it outside of the function, or use a pointer
