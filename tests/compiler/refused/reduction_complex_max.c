#include <smint.h>
int main(void) {
  double _Complex z = 0;
#pragma SMint parallel for reduction(max : z)
  for (int i = 0; i < 100; i++) z += i;
  return z == 0;
}
// expected: 4:44: `z` is complex, which has no max
// remedy: reduce its absolute value
