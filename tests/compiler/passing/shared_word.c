/* `shared` is an ordinary word of C. */
#include <stdio.h>
#include <stdlib.h>
#define shared_by(shared) ((shared) + 1)
enum place { private, shared };
struct state { int shared, *of; unsigned shared2 : 3; };
union both { int shared; float real; };
int private_or_shared(enum place shared);
int private_or_shared(enum place shared) { return shared == private ? 1 : shared_by(shared); }
static int old(shared) int shared; { return shared; }

static int variable(int n) {
  int shared = n, *pointer = &shared;
  const char* text = "shared int a[10]::[NPROCS](0, NPROCS);";
  struct state s = {.shared = 3, .of = &shared}, *p = &s;
  shared += 1;
  shared++; ++shared; shared = shared * shared;
  p->shared = s.shared + shared;
  if (shared > 3) goto shared;
  for (int shared = 0; shared < 3; shared++) n += shared;
  { shared = 4; }
  *pointer = (shared) + (int)sizeof shared;
  return shared ? text[0] : n;
shared:
  return -shared;
}

static void shared_function(void (*shared)(int), int n) { shared(n); }
int main(void) {
  int (*shared)(int) = variable;
  shared_function((void (*)(int))exit, shared(1) + private_or_shared(private) + old(2));
}
