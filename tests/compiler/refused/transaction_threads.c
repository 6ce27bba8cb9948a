int a;
int main(void) {
#pragma hiroba atomic
  {
#pragma omp parallel
    a++;
  }
  return 0;
}
// expected: 5:1: #pragma omp parallel stands in the transaction: a transaction may run again or be undone
// remedy: put it around the transaction, or after it
