#include "all.h"

int k[5];
int main(void) {
  for (int i = 0; i < 12; i++)
#pragma hiroba atomic
    switch (k[i % 5]) {
      case 0: k[0]++; break;
      case 1: k[1] += 2;
      /* fall through */
      default: k[2]--; k[i % 5]++;
    }
  printf("%d %d %d %d\n", k[0], k[1], k[2], k[3]);
}
