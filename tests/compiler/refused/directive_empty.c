#include <smint.h>
int main(void) {
#pragma SMint
  return 0;
}
// expected: 3:1: unknown directive #pragma SMint
// remedy: known are shared, parallel, single, barrier, critical, preload
