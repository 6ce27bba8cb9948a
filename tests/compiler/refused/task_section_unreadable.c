#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(a[0:3)
  a[0] = 1;
}
// expected: 4:24: the bracket of `out` is not closed
// remedy: close it on the same line
