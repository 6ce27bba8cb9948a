#include "all.h"

long a = 7;
double d = 2;
int main(void) {
#pragma hiroba atomic
  {
    a += 3;
    a *= 2;
    a -= 1;
    a <<= 2;
    a >>= 1;
    a |= 5;
    a &= 0xff;
    a ^= 3;
    a %= 50;
    a /= 2;
    d *= 1.5;
    d /= 3;
    d -= 1;
    d += a;
  }
  printf("%ld %g\n", a, d);
}
