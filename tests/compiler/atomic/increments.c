#include "all.h"

int a[4] = {1, 2, 3, 4}, *p = a;
int main(void) {
  int x, y;
#pragma hiroba atomic
  {
    x = a[0]++ + ++a[1];
    y = a[2]-- - --a[3];
    *p++ += 10;
    (*p)++;
    --*p;
    ++p;
    p[0]--;
  }
  printf("%d %d %d %d %d %d %ld\n", x, y, a[0], a[1], a[2], a[3], (long)(p - a));
}
