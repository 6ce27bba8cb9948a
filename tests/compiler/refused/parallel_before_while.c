#include <smint.h>
int main(void) {
  int x = 0;
#pragma SMint parallel for
  while (x < 3) x++;
  return x;
}
// expected: 4:1: parallel for stands before something that is not a for loop
// remedy: put it above a counted loop
