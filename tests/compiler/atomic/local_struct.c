#include "all.h"

struct s {
  int a, b;
  int* p;
} g;
int main(void) {
  struct s x = {1, 2, 0};
  x.p = &x.a;
#pragma hiroba atomic
  {
    x.a++;
    *x.p += 5;
    x.b = x.a;
    g = x;
    g.p = &x.b;
    ++*g.p;
  }
  printf("%d %d %d %d\n", x.a, x.b, g.a, g.b);
}
