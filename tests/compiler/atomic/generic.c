#include "all.h"

double d = 2;
int i = 3;
int main(void) {
  int r;
#pragma hiroba atomic
  r = _Generic(d, int: i, double: i + 1);
  printf("%d\n", r);
}
