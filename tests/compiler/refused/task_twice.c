#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(a) on(0) on(1)
  a[0] = 1;
}
// expected: 4:28: `on` stands here twice
// remedy: take one of them away
