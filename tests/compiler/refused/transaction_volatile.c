struct s {
  volatile int k;
} x;
int main(void) {
#pragma hiroba atomic
  {
    x.k = 4;
  }
}
// expected: 7:5: `x.k` in the transaction is volatile, and a transaction buffers its accesses
// remedy: declare it without `volatile`, or access it outside of the transaction
