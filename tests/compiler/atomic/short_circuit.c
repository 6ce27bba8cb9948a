#include "all.h"

int n, *p;
static int bump(void) { return ++n; }
int main(void) {
  int r = 0;
#pragma hiroba atomic
  {
    if (p && *p) r = 1;
    if (!p || *p) r += 2;
    r += (n && bump()) || bump();
  }
  printf("%d %d\n", r, n);
}
