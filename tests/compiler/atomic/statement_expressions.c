#include "all.h"

int a = 4;
int main(void) {
  int r;
#pragma hiroba atomic
  r = ({
        int t = a;
        a += t;
        t * 2;
      }) +
      __extension__ a;
  printf("%d %d\n", r, a);
}
