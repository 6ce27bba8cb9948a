#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out()
  a[0] = 1;
}
// expected: 4:21: `out` has nothing in a bracket
// remedy: write out(x)
