#include <hiroba/sms.h>
int a;
int main(void) {
#pragma hiroba atomic
  {
    a++;
    sms_lock(3);
  }
  return 0;
}
// expected: 7:5: `sms_lock` in the transaction may wait for others while it holds them up
// remedy: do it outside of the block, or leave it out
