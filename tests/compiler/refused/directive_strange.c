#include <smint.h>
int main(void) {
#pragma SMint 42
  return 0;
}
// expected: 3:15: unknown directive #pragma SMint 42
// remedy: known are shared, parallel, single, barrier, critical, preload
