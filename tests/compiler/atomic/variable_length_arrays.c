#include "all.h"

int g[8];
static int f(int n, int a[n]) {
  int w[n + g[0]];
  for (int i = 0; i < n; i++) w[i] = a[i] * 2;
  int s = 0;
  for (int i = 0; i < n; i++) s += w[i];
  return s;
}
int main(void) {
  int n = 5, v[n], s;
  for (int i = 0; i < n; i++) v[i] = i;
#pragma hiroba atomic
  {
    int t[n];
    for (int i = 0; i < n; i++) t[i] = v[i] + 1, v[i] *= 3;
    s = f(n, t) + (int)(sizeof t / sizeof *t);
    g[1] = s;
  }
  printf("%d %d %d\n", s, g[1], v[4]);
}
