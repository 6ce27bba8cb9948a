int a;
static int f(void) {
  static int n;
  return n++;
}
int main(void) {
#pragma hiroba atomic
  {
    a = f();
  }
  return 0;
}
// expected: 3:3: a static variable in `f`, which the transaction at transaction_static.c:7 calls, would be another one
//     in each copy of the code
// remedy: declare it outside of the function
