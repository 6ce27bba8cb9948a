#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taks out(a)
  a[0] = 1;
}
// expected: 4:16: unknown directive #pragma hiroba taks
// remedy: did you mean `task`?
