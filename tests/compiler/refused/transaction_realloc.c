#include <stdio.h>
#include <stdlib.h>
int* a;
int main(void) {
#pragma hiroba atomic
  {
    a = realloc(a, 8);
  }
  return 0;
}
// expected: 7:9: `realloc` in the transaction allocates in a way that an abort cannot undo
// remedy: call malloc, calloc and free, which the transaction takes back if it is undone
