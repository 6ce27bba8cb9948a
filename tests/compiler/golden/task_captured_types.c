/* Variables of all kinds that a task captures: of old-style functions, with types that follow from others, with extents
 * that follow from their values. */
#include <smint.h>
#include <task.h>
#include "check.h"

#pragma SMint shared ::[](0, 1)
double out[32];
typedef double pair[2];
struct point {
  double x, y;
};
static double twice(double v) { return 2 * v; }

static void old_style(v, f, n) double* v; float f; int n; {
#pragma hiroba task out(out[0])
  out[0] = v[0] + f + n;
#pragma hiroba taskwait
}

static void old_array(v) double v[]; {
#pragma hiroba task out(out[1])
  out[1] = v[1];
#pragma hiroba taskwait
}

static void parameters(double a[][2], const double* restrict b, double f(double), double (*g)(double), int n,
                       double c[static n]) {
#pragma hiroba task out(out[2])
  out[2] = a[1][1] + b[1] + f(3) + g(4) + c[1];
#pragma hiroba taskwait
}

static void follows(void) {
  double base[2] = {7, 8};
  __auto_type a = base[0];
  __auto_type p = base;
  __typeof__(base[0]) b = 7;
  __typeof__(base) c = {5, 6};
  __typeof__(&base) d = &base;
  __typeof__(out[0]) e = 3;
  __typeof__(a) g = 2;
  pair h = {1, 2};
#pragma hiroba task out(out[3])
  out[3] = a + p[1] + b + c[1] + (*d)[1] + e + g + h[1];
#pragma hiroba taskwait
}

static void extents(void) {
  double a[] = {1, 2, 3};
  char b[] = "abc", c[] = {"de"};
  double d[][2] = {{1, 2}, {3, 4}};
  struct point s[] = {{1, 2}, {3, 4}};
  const char* names[] = {"a", "bc"};
  double same[sizeof a / sizeof a[0]] = {9, 9, 9};
#pragma hiroba task out(out[4])
  out[4] = a[2] + sizeof b + c[0] - 'd' + d[1][1] + s[1].y + names[1][0] - 'b' + same[2] + sizeof a / sizeof a[0];
#pragma hiroba taskwait
}

static void qualified(void) {
  register double r = 1;
  volatile double v = 2;
  volatile int w[2] = {1, 2};
  const double c = 3;
  static double s = 4;
  static double t[2] = {4, 5};
  double (*f)(double) = twice;
  double (*table[2])(double) = {twice, twice};
  const struct point p = {1, 2};
  _Alignas(64) double aligned[2] = {1, 2};
#pragma hiroba task out(out[5])
  out[5] = r + v + w[1] + c + s + t[1] + f(1) + table[1](2) + p.y + aligned[1];
#pragma hiroba taskwait
}

static void lengths(int n, double (*rows)[n]) {
  double(*other)[n + 1] = (double(*)[n + 1]) rows;
#pragma hiroba task out(out[6])
  out[6] = rows[1][1] + other[0][1] + sizeof *rows / sizeof **rows + sizeof *other / sizeof **other;
#pragma hiroba taskwait
}

int main(void) {
  double v[2] = {1, 2}, a[2][2] = {{1, 2}, {3, 4}};
  old_style(v, 2.5f, 3);
  old_array(v);
  parameters(a, v, twice, twice, 2, v);
  follows();
  extents();
  qualified();
  lengths(2, a);
  const double expected[] = {6.5, 2, 22, 43, 27, 27, 11};
  int wrong = 0;
  for (int i = 0; i < 7; i++) wrong += out[i] != expected[i];
  return verdict(wrong);
}
