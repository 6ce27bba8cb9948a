#include "all.h"

int a = 1, b = 2, c;
int main(void) {
  int r;
#pragma hiroba atomic
  {
    r = a ? b : c;
    c = (a++, b++, a + b);
    if ((a && !b) || c) r += 10;
    (a > b ? &a : &b)[0] = 77;
    r += a ?: 5;
  }
  printf("%d %d %d %d\n", a, b, c, r);
}
