#include "all.h"

struct a {
  struct b {
    struct c {
      struct d {
        int v[3];
      } *d;
    } *c;
  } *b;
} *a;
int main(void) {
  struct d d = {{1, 2, 3}};
  struct c c = {&d};
  struct b b = {&c};
  struct a x = {&b};
  a = &x;
  int r;
#pragma hiroba atomic
  {
    a->b->c->d->v[a->b->c->d->v[0]] += a->b->c->d->v[2] * (a->b->c->d)->v[1];
    r = a->b->c->d->v[1];
  }
  printf("%d\n", r);
}
