#include <smint.h>
int main(void) {
  int x = 0;
  {
    x++;
#pragma SMint single
  }
  return x;
}
// expected: 6:1: #pragma SMint single stands before no statement
// remedy: put it above a loop or a statement, in a function
