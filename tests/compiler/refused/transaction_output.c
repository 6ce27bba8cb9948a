#include <stdio.h>
#include <stdlib.h>
int a;
int main(void) {
#pragma hiroba atomic
  {
    a++;
    printf("%d", a);
  }
}
// expected: 8:5: `printf` in the transaction does input or output, which cannot be undone
// remedy: do it after the block, or before it
