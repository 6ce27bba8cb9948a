int a;
int main(void) {
#pragma hiroba atomic
  {
    hiroba_tx_fence();
    a = 1;
  }
  return 0;
}
// expected: 5:5: `hiroba_tx_fence` in the transaction is for outside of transactions
// remedy: call it before the block, or after it
