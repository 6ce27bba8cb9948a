#include "all.h"

struct s {
  int a, b[2];
} g;
int* p;
static int f(const struct s* x) { return x->a + x->b[1]; }
int main(void) {
  int r;
#pragma hiroba atomic
  {
    g = (struct s){.a = 2, .b = {3, 4}};
    r = f(&(struct s){g.a, {1, g.b[0]}});
    r += (int[]){1, g.b[1], 3}[1];
  }
  printf("%d %d\n", r, g.b[1]);
}
