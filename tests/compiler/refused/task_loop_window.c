#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taskloop grainsize(2) out(b[0][i:i + 1])
  for (int i = 0; i < 2; i++) b[0][i][0][0][0] = i;
}
// expected: 4:42: what a task uses of `b[0][i:i + 1]` does not follow from `i`
// remedy: write one index i + c, or [i + c:length]
