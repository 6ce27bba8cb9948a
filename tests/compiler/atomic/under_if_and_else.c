#include "all.h"

int a;
int main(int c, char** v) {
  (void)v;
  if (c > 1)
#pragma hiroba atomic
  {
    a = 1;
  } else
#pragma hiroba atomic
    a = 2;
  printf("%d\n", a);
}
