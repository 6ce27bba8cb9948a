#include <task.h>
double a[10][10];
int main(void) {
#pragma hiroba taskloop grainsize(2) inout(a[i][i])
  for (int i = 0; i < 10; i++) a[i][i] = i;
}
// expected: 4:44: what a task uses of `a[i][i]` does not follow from `i`
// remedy: write one index i + c, or [i + c:length]
