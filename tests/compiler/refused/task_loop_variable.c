#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taskloop grainsize(3) out(a[i])
  for (int i = 0; i < 10; i++) {
    a[i] = i;
    if (i == 3) i = 5;
  }
}
// expected: 4:1: the body of the loop changes `i`
// remedy: write for (int i = first; i < end; i++)
