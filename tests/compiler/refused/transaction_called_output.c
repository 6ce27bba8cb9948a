#include <stdio.h>
#include <stdlib.h>
int a;
static void f(void) { puts("x"); }
int main(void) {
#pragma hiroba atomic
  {
    a++;
    f();
  }
}
// expected: 4:23: `puts` in `f`, which the transaction at transaction_called_output.c:6 calls, does input or output,
//     which cannot be undone
// remedy: do it after the block, or before it
