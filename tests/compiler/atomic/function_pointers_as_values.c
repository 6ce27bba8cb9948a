#include "all.h"

static int f(int x) { return x + 1; }
int (*h)(int);
int main(void) {
#pragma hiroba atomic
  {
    if (!h) h = f;
    h = h == f ? f : 0;
  }
  printf("%d\n", h(3));
}
