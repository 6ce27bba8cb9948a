/* More of forgotten.c. */
#include <smint.h>
#include <stdio.h>

enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N], b[N], matrix[N][N];

static int i;
static void of_the_file(void) {
  for (i = 0; i < N; i++) a[i] *= 2; /* every rank */
}

struct grid {
  int n, me;
};
static void by_member(const struct grid* g) {
  if (g->me == 0) b[0] += 1;
  for (int k = 0; k < g->n; k++) a[k] *= 2; /* every rank */
}

static void inner(double* x) { *x += 1; /* every rank */ }
static void through_two(double* v, int n) {
  for (int k = 0; k < n; k++) inner(&v[k]);
}

static void in_a_time_loop(void) {
  int k;
  for (int t = 0; t < 3; t++) {
#pragma SMint parallel for
    for (k = 0; k < N; k++) a[k] = b[k];
    for (k = 0; k < N; k++) b[k] += a[k]; /* every rank */
    if (MYPID == 0)
      for (k = 0; k < N; k++) printf("%g ", b[k]);
  }
}

static void swapped(void) {
  double *p = a, *q = b;
  for (int t = 0; t < 3; t++) {
    for (int k = 0; k < N; k++) p[k] *= 2; /* every rank */
    double* r = p;
    p = q;
    q = r;
  }
}

static void rows(void) {
  int k, j;
  for (k = MYPID; k < N; k += NPROCS) matrix[k][0] = 1;
  for (k = 0; k < N; k++) {
    double* row = matrix[k];
    for (j = 0; j < N; j++) row[j] *= 2; /* every rank */
  }
}

static void jumps(void) {
  int k = 0;
  if (MYPID == 0) printf("begin\n");
again:
  a[k] *= 2; /* every rank */
  if (++k < N) goto again;
}

static int me(void) { return MYPID; }
static int count(void) { return N; }
static void called_bound(void) {
  printf("%d\n", me());
  for (int k = 0; k < count(); k++) a[k] = a[k] * 2; /* every rank */
}

static void do_loop(int wanted) {
  int k = 0;
  switch (wanted) {
    case 1:
      do a[k] += 2; /* every rank */
      while (++k < N);
      break;
    default: break;
  }
}

int main(int argc, char** argv) {
  struct grid g = {.n = N};
  g.me = MYPID;
  if (MYPID == 0)
    for (i = 0; i < N; i++) printf("%g ", a[i]);
  of_the_file();
  by_member(&g);
  through_two(a, N);
  in_a_time_loop();
  swapped();
  rows();
  jumps();
  called_bound();
  do_loop(argc);
  return argv[argc] != NULL;
}
