#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taskloop out(a[i])
  for (int i = 0; i < 10; i++) a[i] = i;
}
// expected: 4:1: #pragma hiroba taskloop without `grainsize`
// remedy: write grainsize(n), for n iterations per task
