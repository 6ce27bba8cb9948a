int a;
int main(void) {
#pragma hiroba atomic
  {
    __atomic_fetch_add(&a, 1, 5);
  }
}
// expected: 5:5: `__atomic_fetch_add` in the transaction is an atomic operation, which a transaction cannot undo
// remedy: write an ordinary access
