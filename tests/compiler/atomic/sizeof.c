#include "all.h"

int a[10], *p;
struct {
  char c[3];
} s;
int main(void) {
  unsigned long r;
#pragma hiroba atomic
  r = sizeof a / sizeof a[0] + sizeof *p + sizeof(s.c) + sizeof(int[3]) + sizeof p[7];
  printf("%lu\n", r);
}
