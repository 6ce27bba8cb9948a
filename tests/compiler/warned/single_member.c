#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
struct input {
  int n, m;
};
int main(void) {
  struct input in = {0};
#pragma SMint single
  in.n = 3;
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) a[i] = in.n;
  return 0;
}
// expected: 10:3: only rank 0 sets `in.n` here, and the other ranks go on with what they had
// remedy: say `single copy(in)`, or declare `in` shared, with ::[](0,1), or set it on all
