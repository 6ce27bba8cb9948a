#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taskloop grainsize(2) out(a[9 - i])
  for (int i = 0; i < 10; i++) a[9 - i] = i;
}
// expected: 4:42: what a task uses of `a[9 - i]` does not follow from `i`
// remedy: write one index i + c, or [i + c:length]
