#include <setjmp.h>
jmp_buf b;
int main(void) {
#pragma hiroba atomic
  {
    longjmp(b, 1);
  }
  return 0;
}
// expected: 6:5: `longjmp` in the transaction jumps past the end of the block
// remedy: leave by hiroba_tx_abort(value)
