#include "all.h"

int a[6];
int main(void) {
  int i = 3;
#pragma hiroba atomic
  {
    while (i < 6) a[i++] = i;
    do {
      a[--i]++;
      if (i == 2) break;
    } while (i > 0);
    for (;;) {
      if (a[0]++ > 4) break;
      if (a[1]) continue;
      a[1] = a[0];
    }
  }
  printf("%d %d %d %d %d\n", i, a[0], a[1], a[2], a[5]);
}
