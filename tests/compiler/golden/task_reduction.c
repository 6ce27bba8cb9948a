/* Reductions of tasks: of variables, elements, arrays and what pointers point to, private and shared. */
#include <complex.h>
#include <task.h>
#include "check.h"
#define N 40

#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N];
#pragma SMint shared ::[](0, 1)
double sum, bins[4];
#pragma SMint shared ::[](0, 1)
int most[2];
static long count;
double* total;

static void add(double* to, int from) {
#pragma hiroba task reduction(+ : to[0:2])
  to[0] += from, to[1] += 1;
}

static int alone(void) {
  long product = 1, least[3] = {7, 7, 7};
  _Bool all = 1;
  double complex c = 1;
  unsigned bits = 8;
  for (int i = 1; i <= 6; i++) {
#pragma hiroba task reduction(* : product) in_reduction(min : least[1 : 2]) reduction(&& : all) reduction(+ : c) \
    reduction(| : bits)
    {
      product *= i;
      if (i == 3) least[2] = i;
      all = all && i < 7;
      c += I * i;
      bits |= 1u << i;
    }
  }
#pragma hiroba task inout(product)
  product += 1;
#pragma hiroba taskwait
  return product != 721 || least[1] != 7 || least[2] != 3 || !all || c != 1 + 21 * I || bits != 126;
}

int main(void) {
  int wrong = alone();
#pragma hiroba taskloop grainsize(7) out(a[i])
  for (int i = 0; i < N; i++) a[i] = i;
  for (int round = 0; round < 3; round++) {
#pragma hiroba taskloop grainsize(6) in(a[i]) reduction(+ : sum, bins[0 : 4]) reduction(max : most[1])
    for (int i = 0; i < N; i++) {
      sum += a[i];
      bins[i % 4] += 1;
      if (most[1] < i) most[1] = i;
    }
#pragma hiroba task inout(sum)
    sum *= 2;
  }
#pragma hiroba taskloop grainsize(10) reduction(+ : count)
  for (int i = 0; i < N; i++) count += i;
  total = sms_alloc(sizeof(double), 2, 0);
  for (int i = 0; i < 8; i++) add(total, i);
  double* const here = total;
  for (int i = 0; i < 8; i++) {
#pragma hiroba task reduction(+ : *here) on(i % sms_nprocs)
    *here += 100;
  }
#pragma hiroba task inout(count)
  {
    long of_children = 0;
    for (int i = 0; i < 5; i++) {
#pragma hiroba task reduction(- : of_children)
      of_children -= i;
    }
#pragma hiroba taskwait
    count += of_children;
  }
#pragma hiroba taskwait
  wrong += sum != 780 * (2 + 4 + 8) || bins[3] != 30 || most[1] != N - 1 || most[0] != 0 || count != 780 - 10;
  return verdict(wrong + (total[0] != 28 + 800) + (total[1] != 8));
}
