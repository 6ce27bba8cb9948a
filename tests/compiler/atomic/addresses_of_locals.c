#include "all.h"

int g[3] = {4, 5, 6};
static void swap(int* a, int* b) {
  int t = *a;
  *a = *b;
  *b = t;
}
static int three(void) {
  int x = 1, y = 2;
  swap(&x, &y);
  int* p = &x;
  *p += 10;
  return x * 100 + y;
}
int main(void) {
  int x = 1, y = 2, r;
#pragma hiroba atomic
  {
    swap(&x, &y);
    int z = 9, *q = &z;
    *q += x;
    swap(q, &g[0]);
    r = three() + z;
    swap(&g[1], &g[2]);
    x += 5;
  }
  printf("%d %d %d %d %d %d\n", x, y, r, g[0], g[1], g[2]);
}
