#include <mpc.h>
#include "check.h"

struct body {
  double at[3];
  int number;
};
enum { N = 500 };
shared struct body bodies[N]::[NPROCS](0, NPROCS);
shared struct { int first, last; } span;
shared struct body sun;

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == 0) {
    for (int i = 0; i < N; i++) bodies[i] = (struct body){{i, 2 * i, 3 * i}, i};
    span.first = 1;
    span.last = N;
    sun.at[2] = 1.5;
  }
  mpc_barrier();
  int wrong = span.first != 1 || span.last != N || sun.at[2] != 1.5;
  for (int i = 0; i < N; i++) wrong += bodies[i].number != i || bodies[i].at[2] != 3 * i;
  struct body* some = bodies + 10;
  wrong += some->number != 10;
  verdict(wrong);
  return mpc_exit();
}
