#include "all.h"

struct s {
  int a;
  double b[3];
  char c;
} x = {1, {2, 3, 4}, 5}, y;
int main(void) {
  struct s z;
#pragma hiroba atomic
  {
    y = x;
    y.b[1] = 9;
    z = y;
    x = z;
    x.c++;
  }
  printf("%d %g %d %g %d\n", y.a, y.b[1], x.c, z.b[1], z.c);
}
