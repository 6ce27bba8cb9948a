#include "all.h"

struct {
  int t;
  union {
    int i;
    struct {
      short lo, hi;
    };
  };
} g = {1, {65537 * 3}};
int main(void) {
#pragma hiroba atomic
  {
    g.lo += 2;
    g.hi--;
    g.t = g.i;
  }
  printf("%d\n", g.t);
}
