#include "all.h"

struct f {
  int n;
  int v[];
} *p;
int main(void) {
#pragma hiroba atomic
  {
    p = malloc(sizeof *p + 4 * sizeof(int));
    p->n = 4;
    for (int i = 0; i < p->n; i++) p->v[i] = i * i;
  }
  printf("%d\n", p->v[3]);
}
