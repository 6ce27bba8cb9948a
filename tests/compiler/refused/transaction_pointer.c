int a;
int main(void) {
  void (*f)(void) = 0;
#pragma hiroba atomic
  {
    a++;
    f();
  }
}
// expected: 7:5: `f` in the transaction is a call through a pointer: what it does is not known
// remedy: call functions of this file by their names, in an if or a switch
