#include "all.h"

enum { N = 3 };
static const int table[N] = {5, 6, 7};
const double pi = 3.5;
#define M 2
int s;
int main(void) {
  const int k = 2;
  static const int w[2] = {8, 9};
#pragma hiroba atomic
  s += table[k] + N + (int)pi + M + w[1] + 'a' + (int)sizeof("abc") + "xyz"[1];
  printf("%d\n", s);
}
