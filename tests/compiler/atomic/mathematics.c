#include "all.h"

double x = 2, y[3] = {1, 4, 9};
int n = -4;
int main(void) {
  double r;
#pragma hiroba atomic
  {
    y[0] = sqrt(y[1]) + fabs(-x) + abs(n);
    r = pow(y[0], 2) + floor(x / 3);
    x = fmax(r, y[2]);
    if (isnan(x)) x = 0;
    n = isdigit('0' + n + 9) != 0;
  }
  printf("%g %g %g %d\n", x, r, y[0], n);
}
