#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
int main(void) {
  int best = 0, where[8] = {0};
#pragma xmp loop on t[i] reduction(firstmax:best/where[0:4:2]/)
  for (int i = 0; i < 100; i++)
    if (i > best) best = i, where[0] = i;
  return best;
}
// expected: 7:1: location `where[0:4:2]` is not in one piece
// remedy: name a variable, or consecutive elements: k[0:2]
