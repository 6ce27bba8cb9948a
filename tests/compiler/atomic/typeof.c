#include "all.h"

struct s {
  int k;
} g = {3};
int main(void) {
  __auto_type q = &g;
  __typeof__(g.k) r = 0;
#pragma hiroba atomic
  {
    __typeof__(g.k) t = q->k;
    __auto_type u = &q->k;
    *u += t;
    r += *u;
    __typeof__(*q) copy = *q;
    r += copy.k;
  }
  printf("%d %d\n", r, g.k);
}
