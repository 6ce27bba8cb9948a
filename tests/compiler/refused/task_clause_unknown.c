#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task inn(a[0:3])
  a[0] = 1;
}
// expected: 4:21: unknown word `inn` in #pragma hiroba task
// remedy: did you mean `in`?
