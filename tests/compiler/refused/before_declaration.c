#include <smint.h>
int main(void) {
#pragma SMint single
  int x = 0;
  return x;
}
// expected: 3:1: #pragma SMint single stands before no statement
// remedy: put it above a loop or a statement, in a function
