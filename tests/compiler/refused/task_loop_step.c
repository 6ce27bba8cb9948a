#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taskloop grainsize(3) out(a[i])
  for (int i = 0; i < 10; i += 2) a[i] = i;
}
// expected: 4:1: `i` in the loop below #pragma hiroba taskloop does not go up by 1
// remedy: write for (int i = first; i < end; i++)
