int a;
static void f(void) {
#pragma omp critical
  a++;
}
int main(void) {
#pragma hiroba atomic
  {
    f();
  }
  return 0;
}
// expected: 3:1: #pragma omp critical stands in `f`, which the transaction at transaction_called_directive.c:7 calls:
//     a transaction may run again or be undone
// remedy: put it around the transaction, or after it
