#include "all.h"

int next(void) {
  static int n = 5;
  int r;
#pragma hiroba atomic
  r = n++;
  return r;
}
int main(void) {
  next();
  int a = next();
  printf("%d %d\n", a, next());
}
