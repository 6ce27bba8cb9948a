#include "all.h"

int *p, n;
int main(void) {
#pragma hiroba atomic
  {
    p = calloc(4, sizeof *p);
    int* q = malloc(8);
    q[0] = 5;
    p[2] += q[0];
    free(q);
    n = p[2] + p[3];
  }
  printf("%d\n", n);
#pragma hiroba atomic
  {
    free(p);
    p = NULL;
  }
  printf("%d\n", p == 0);
}
