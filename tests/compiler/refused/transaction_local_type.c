int a;
int main(void) {
  struct q {
    int k;
  } x = {1};
#pragma hiroba atomic
  {
    a = x.k;
  }
  return 0;
}
// expected: 6:1: the transaction cannot have `x`, because its type is declared in the function
// remedy: declare it outside of the function, or use a pointer
