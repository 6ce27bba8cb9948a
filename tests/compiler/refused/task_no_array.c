#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  double x;
#pragma hiroba task out(x[0:3])
  x = 1;
  return x > 1;
}
// expected: 5:25: `x[0:3]` is a section of what is no array
// remedy: `x` is a double
