#include <xmp.h>
int main(void) {
  int x = 0;
#pragma xmp tasks
  x = 1;
  return x;
}
// expected: 4:1: #pragma xmp tasks stands above a block of tasks
// remedy: write tasks, and { below it
