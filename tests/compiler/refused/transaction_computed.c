int a;
int main(void) {
  void* p = &&x;
#pragma hiroba atomic
  {
    a++;
    goto* p;
  x:
    a--;
  }
  return 0;
}
// expected: 7:9: the transaction cannot be read as C from here
// remedy: write it in the words of C11
