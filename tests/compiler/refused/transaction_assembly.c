int a;
int main(void) {
#pragma hiroba atomic
  {
    a++;
    __asm__ volatile("nop");
  }
}
// expected: 6:5: assembly in the transaction: what it reads and writes is not known
// remedy: write it in C, or put it outside of the block
