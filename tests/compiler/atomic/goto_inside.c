#include "all.h"

int a;
int main(void) {
  int i = 0;
#pragma hiroba atomic
  {
  again:
    a += ++i;
    if (i < 4) goto again;
  }
  printf("%d %d\n", a, i);
}
