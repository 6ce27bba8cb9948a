/* An array stays an array: what depends on its type says the same as in C. */
#include <mpc.h>
#include "check.h"

enum { N = 20 };
shared double a[N][4]::[NPROCS][1](0, NPROCS);
shared short s;
static const unsigned long size_of_a = sizeof(a), row_of_a = sizeof a[0];

#define COUNT(x) (sizeof(x) / sizeof(x)[0])

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  int wrong = COUNT(a) != N || COUNT(a[0]) != 4 || sizeof s != sizeof(short);
  wrong += size_of_a != N * 4 * sizeof(double) || row_of_a != 4 * sizeof(double);
  wrong += _Generic(a[0][0], double: 0, default: 1) + _Generic(&s, short*: 0, default: 1);
  __typeof__(a) copy;
  __typeof__(s) t = 3;
  wrong += sizeof copy != sizeof a || t != 3;
  double(*end)[4] = &a[N];
  wrong += end - a != N || (void*)&a != (void*)a;
  _Static_assert(sizeof(a) == N * 4 * sizeof(double), "size");
  verdict(wrong);
  return mpc_exit();
}
