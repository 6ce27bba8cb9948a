#include "all.h"

int s;
int main(void) {
  int i, j = 0;
  int* p = &s;
  for (i = 0; i < 3; i++)
#pragma hiroba atomic
  {
    int i2 = i;
    for (j = 0; j < i; j++) *p += i2;
    p = &s;
  }
  printf("%d %d %d\n", s, i, j);
}
