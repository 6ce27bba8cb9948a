#include <smint.h>
int main(void) {
  int x = 0;
#pragma SMint singel
  x++;
  return x;
}
// expected: 4:15: unknown directive #pragma SMint singel
// remedy: did you mean `single`?
