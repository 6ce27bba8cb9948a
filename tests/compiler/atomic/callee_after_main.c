#include "all.h"

int a;
void f(int);
int main(void) {
#pragma hiroba atomic
  {
    f(3);
  }
  printf("%d\n", a);
}
void f(int x) { a += x; }
