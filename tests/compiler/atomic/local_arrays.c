#include "all.h"

int g;
static int sum(const int* a, int n) {
  int s = 0;
  while (n--) s += *a++;
  return s;
}
int main(void) {
  int a[4] = {1, 2, 3, 4}, s;
#pragma hiroba atomic
  {
    a[0] = 10;
    int b[3] = {g, a[1], 7};
    b[1]++;
    g = sum(a, 4);
    s = sum(b, 3) + a[0];
  }
  printf("%d %d %d\n", g, s, a[0]);
}
