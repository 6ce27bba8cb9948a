#include "all.h"

int a;
int add(x, y)
int x, y;
{
  a += x * y;
  return a;
}
int main(void) {
  int r;
#pragma hiroba atomic
  r = add(2, 3);
  printf("%d %d\n", r, a);
}
