#include "all.h"

struct {
  struct {
    int a[3];
    struct {
      long k;
    } in[2];
  } m;
  union {
    int i;
    float f;
  } u;
} g;
int main(void) {
  int i = 1;
#pragma hiroba atomic
  {
    g.m.a[i] = 4;
    g.m.in[i].k += g.m.a[1];
    g.u.f = 1.0f;
    g.m.a[2] = g.u.i >> 20;
  }
  printf("%d %ld %d\n", g.m.a[1], g.m.in[1].k, g.m.a[2]);
}
