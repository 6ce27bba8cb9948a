#include "all.h"

int a;
static inline int twice(int x) { return a += 2 * x; }
static inline __attribute__((always_inline)) int four(int x) { return twice(twice(x)); }
extern int seen(int x);
__attribute__((noinline)) int seen(int x) { return x + a; }
int main(void) {
  int r;
#pragma hiroba atomic
  r = four(3) + seen(1);
  printf("%d %d\n", r, a);
}
