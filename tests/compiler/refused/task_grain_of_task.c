#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task grainsize(3) out(a)
  a[0] = 1;
}
// expected: 4:21: unknown word `grainsize` in #pragma hiroba task
// remedy: known are in, out, inout, commutative, concurrent, reduction, in_reduction, depend, firstprivate, private,
//     shared, on, priority, if, label
