_Atomic int a;
int main(void) {
#pragma hiroba atomic
  {
    a = 3;
  }
}
// expected: 5:5: `a` in the transaction is atomic, and a transaction buffers its accesses
// remedy: declare it without `_Atomic`, or access it outside of the transaction
