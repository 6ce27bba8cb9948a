#include "all.h"

int depth;
static int odd(int n);
static int even(int n) {
  depth++;
  return n == 0 ? 1 : odd(n - 1);
}
static int odd(int n) {
  depth += 2;
  return n == 0 ? 0 : even(n - 1);
}
int main(void) {
  int r;
#pragma hiroba atomic
  r = even(9) * 10 + odd(5);
  printf("%d %d\n", r, depth);
}
