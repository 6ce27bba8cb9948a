#include "all.h"

struct s {
  unsigned a : 3, b : 7;
  int c : 5;
} s = {7, 100, -3}, *p = &s;
int main(void) {
  int r;
#pragma hiroba atomic
  {
    s.a++;
    p->b -= 3;
    p->c = -9;
    r = s.c-- + ++p->b;
    (p)->a |= 5;
    r += p->a;
  }
  printf("%u %u %d %d\n", s.a, s.b, s.c, r);
}
