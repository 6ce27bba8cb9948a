#include "all.h"

int g;
struct q;
static int f(int n, char* t, double d[], const struct q* z) {
  (void)z;
#pragma hiroba atomic
  {
    n += 2;
    d[0] += n;
    *t = 'q';
    t++;
    g += n;
  }
  return n + *t;
}
int main(void) {
  char t[] = "ab";
  double d[2] = {1, 2};
  int r = f(1, t, d, 0);
  printf("%d %s %g %d\n", r, t, d[0], g);
}
