#include "all.h"

int a;
static void inner(int n) {
#pragma hiroba atomic
  {
    a += n;
  }
}
int main(void) {
#pragma hiroba atomic
  {
    a = 1;
#pragma hiroba atomic
    {
      a *= 5;
      inner(2);
    }
#pragma hiroba atomic
    a++;
  }
  inner(100);
  printf("%d\n", a);
}
