#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task reduction(+ : a[0])
  a[0] += 1;
}
// expected: 4:21: `reduction` in #pragma hiroba task is no clause of a task here
// remedy: take concurrent(x) and atomic operations, or commutative(x)
