#include "all.h"

struct v {
  double x, y;
} p = {1, 2}, q;
static struct v add(struct v a, struct v b) {
  a.x += b.x;
  a.y += b.y;
  return a;
}
int main(void) {
#pragma hiroba atomic
  {
    q = add(p, p);
    q = add(q, (struct v){.x = p.x, .y = 5});
    p.x = add(p, q).y;
  }
  printf("%g %g %g\n", q.x, q.y, p.x);
}
