#include "all.h"

_Bool b;
char c = -3;
signed char sc = -4;
unsigned char uc = 250;
short s = -5;
unsigned short us = 6;
int i = -7;
unsigned u = 8;
long l = -9;
unsigned long ul = 10;
long long ll = -11;
float f = 1.5f;
double d = 2.5;
long double ld = 3.25L;
_Complex double z;
enum e { A = 1, B = 5 } e = A;
int* p = &i;
int main(void) {
#pragma hiroba atomic
  {
    b = 17;
    b |= c < 0;
    c += 200;
    sc -= 125;
    uc += 10;
    s *= 10000;
    us--;
    i /= 2;
    u -= 9;
    l++;
    ul ^= l;
    ll <<= 3;
    f /= 2;
    d = -d;
    ld *= 2;
    z = 1 + d;
    z *= 2;
    e = B;
    e -= 1;
    *p += 100;
    p = p;
  }
  printf("%d %d %d %d %d %d %d %u %ld %lu %lld %g %g %Lg %g %d\n", b, c, sc, uc, s, us, i, u, l, ul, ll, f, d, ld,
         __real__ z, e);
}
