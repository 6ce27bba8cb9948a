#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(a)
  for (int i = 0; i < 3; i++)
#pragma hiroba task out(a[i])
    a[i] = 1;
}
// expected: 6:1: #pragma hiroba task ends where the task above it ends
// remedy: put { and } around what #pragma hiroba task stands above
