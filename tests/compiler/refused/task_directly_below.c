#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(a)
#pragma SMint critical
  a[0] = 1;
}
// expected: 5:1: #pragma SMint critical ends where the task above it ends
// remedy: put { and } around what #pragma hiroba task stands above
