/* More of forgotten.c: other forms of C. */
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 8
#define FOR_ALL(i) for (int i = 0; i < N; i++)
#define DOUBLE(x) ((x) *= 2)
typedef double row_t[N];
struct cell {
  double u;
  int k[3];
};
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N], b[N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
struct cell cells[N];
#pragma SMint shared ::[NPROCS][](0, NPROCS)
row_t m[N];

static void macro(void) {
  if (MYPID == 0) FOR_ALL(i) printf("%g", a[i]);
  FOR_ALL(i) DOUBLE(a[i]); /* every rank */
}
static void members(void) { FOR_ALL(i) cells[i].u += 1; /* every rank */ }
static void by_a_member_pointer(void) {
  for (struct cell* c = cells; c != cells + N; ++c) c->k[1]++; /* every rank */
}
static void old_style(v, n) double* v;
int n;
{
  register int i;
  for (i = 0; i < n; i++) v[i] = v[i] * 2; /* every rank */
}
static void target(double* v) { v[1] += 1; /* every rank */ }
static void by_pointer(void) {
  void (*f)(double*) = target;
  (*f)(a);
}
static void comma(void) {
  int i, s = 0;
  for (i = 0; i < N; s += i, i++) (void)s, a[i] -= 1; /* every rank */
}
static void choice(int x) {
  double* p = x ? a : b;
  FOR_ALL(i) x ? (p[i] *= 2) : (p[i] += 2); /* every rank */
}
static void statement_expression(void) {
  FOR_ALL(i)({
    double* p = &a[i];
    *p += 1; /* every rank */
  });
}
static void variable_length(int n) {
  double(*p)[n] = (double(*)[n])m;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) p[i][j] *= 2; /* every rank */
}
static void computed_goto(void) {
  void* t[] = {&&again, &&done};
  int i = 0;
again:
  a[i] *= 2; /* every rank */
  if (++i < N) goto* t[0];
  goto* t[1];
done:;
}
static void generic(void) { FOR_ALL(i) _Generic(a[i], double: a[i] *= 2, default: a[i] += 1); /* every rank */ }
static void typeof_name(void) {
  typeof(a[0])* restrict p __attribute__((aligned(8))) = a;
  for (__typeof__(N) i = N; i-- > 0;) p[i] *= 2; /* every rank */
}
static double* get(void) { return a; }
static void returned(void) { FOR_ALL(i) get()[i] += 1; /* every rank */ }
static void forever(void) {
  int i = 0;
  for (;;) {
    if (i == N) break;
    a[i++] *= 2; /* every rank */
  }
}
struct context {
  double* u;
  int n, rank;
};
static void in_a_struct(struct context* c) {
  for (int i = 0; i < c->n; i++) c->u[i] *= 2; /* every rank */
}

int main(int argc, char** argv) {
  struct context c = {.rank = MYPID, .u = a, .n = N};
  macro();
  members();
  by_a_member_pointer();
  old_style(a, N);
  by_pointer();
  comma();
  choice(argc);
  statement_expression();
  variable_length(N);
  computed_goto();
  generic();
  typeof_name();
  returned();
  forever();
  in_a_struct(&c);
  return argv[argc] != NULL;
}
