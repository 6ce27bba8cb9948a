#include <smint.h>
int main(void) {
  int x = 0;
#pragma SMint parallel
  x++;
  return x;
}
// expected: 4:1: #pragma SMint parallel without `for`
// remedy: write parallel for, above a loop
