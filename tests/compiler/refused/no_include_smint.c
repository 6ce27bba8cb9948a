#include <stdio.h>
int main(void) {
#pragma SMint barrier
  puts("here");
  return 0;
}
// expected: 3:1: this file does not include <smint.h>
// remedy: put #include <smint.h> at its beginning
