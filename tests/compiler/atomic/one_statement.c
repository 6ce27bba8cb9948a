#include "all.h"

int a;
int main(void) {
  for (int i = 0; i < 5; i++)
#pragma hiroba atomic
    a += i;
  printf("%d\n", a);
}
