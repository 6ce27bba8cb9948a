int a;
static int f(int n, ...) { return n; }
int main(void) {
#pragma hiroba atomic
  {
    a = f(1, 2);
  }
  return 0;
}
// expected: 2:12: `f`, which the transaction at transaction_variadic.c:4 calls, has a variable number of arguments
// remedy: write it in the words of C11, with a fixed number of arguments
