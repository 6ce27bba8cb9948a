/* Names that are not the shared ones, though they are spelled the same. */
#include <mpc.h>
#include "check.h"

enum { N = 10 };
shared int a[N]::[NPROCS](0, NPROCS), n;
struct a { int a, n; };
struct list { struct a a; struct list* n; };

static int parameter(int a, int n) { return a + n; }
static int in_prototype(int a, int b[a]) { return b[a - 1]; }

static int label(int count) {
a:
  if (--count > 0) goto a;
  return count;
}

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == 0) a[3] = n = 3;
  mpc_barrier();
  int wrong = parameter(1, 2) != 3 || label(3) != 0;
  struct list l = {.a = {.a = 5, .n = 6}, .n = 0}, *p = &l;
  wrong += l.a.a != 5 || p->a.n != 6 || p->n != 0;
  {
    wrong += a[3] != 3;
    int a = 8;
    wrong += a != 8;
    {
      struct a a = {1, 2};
      wrong += a.a != 1 || a.n != 2;
    }
    for (int a = 0, n = 0; a < 2; a++, n++) wrong += a != n;
  }
  int one = 1, values[] = {9};
  wrong += in_prototype(one, values) != 9;
  wrong += a[3] != 3 || n != 3 || (sizeof(struct a) != 2 * sizeof(int));
  verdict(wrong);
  return mpc_exit();
}
