/* Loops that lack their directive, though the same names depend on the rank elsewhere: each line that is marked is an
 * error, and no other one. */
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N], b[N], matrix[N][N];

static void c89(void) {
  int i, n = N;
  if (MYPID == 0)
    for (i = 0; i < n; i++) printf("%g ", a[i]);
  for (i = 0; i < n; i++) a[i] *= 2; /* every rank */
}

static void strided_before(void) {
  int i;
  for (i = MYPID; i < N; i += NPROCS) b[i] += 1;
  for (i = 0; i < N; i++) a[i] += b[i]; /* every rank */
}

static void while_loop(void) {
  int i = MYPID;
  printf("%d\n", i);
  i = 0;
  while (i < N) {
    a[i] *= 2; /* every rank */
    i++;
  }
}

static void scale(double* v, int n, double by) {
  for (int i = 0; i < n; i++) v[i] *= by; /* every rank */
}

static void by_parts(int first, int end) {
  for (int i = first; i < end; i++) a[i] += 1; /* every rank */
}

static int left_early(int x) {
  if (x < 0) return 1;
  for (int i = 0; i < N; i++) a[i] *= 2; /* every rank */
  return 0;
}

static void walking_pointer(void) {
  double* p = a;
  if (MYPID == 0) p = a + 1, printf("%g", *p);
  p = a;
  while (p < a + N) *p++ *= 2; /* every rank */
}

static void block_pointer(int n) {
#pragma SMint shared ::[n : NPROCS](0, NPROCS)
  int* c = malloc(n * sizeof(int));
  if (MYPID == 0)
    for (int i = 0; i < n; i++) c[i] = 1;
#pragma SMint barrier
  for (int i = 0; i < n; i++) c[i] *= 2; /* every rank */
  free(c);
}

static void behind_a_lock(void) {
  sms_lock(3);
  b[0]++;
  sms_unlock(3);
  for (int i = 0; i < N; i++) a[i] *= 2; /* every rank */
}

static void hidden_name(void) {
  int i = 0;
  {
    int i = MYPID;
    printf("%d\n", i);
  }
  for (; i < N; i++) a[i] -= 1; /* every rank */
}

static void behind_directives(void) {
  int i;
  double sum = 0;
#pragma SMint parallel for reduction(+ : sum)
  for (i = 0; i < N; i++) sum += a[i];
  for (i = 0; i < N; i++) a[i] /= sum; /* every rank */
}

static void beside_a_condition(void) {
  for (int i = 0; i < N; i++) {
    if (MYPID == 0) printf("%d\n", i);
    a[i] *= 2; /* every rank */
  }
}

int main(int argc, char** argv) {
  c89();
  strided_before();
  while_loop();
  if (MYPID == 0) scale(b, N, 2);
  scale(a, N, 3);
  by_parts(MYPID * N / NPROCS, (MYPID + 1) * N / NPROCS);
#pragma SMint barrier
  by_parts(0, N);
  if (MYPID == 0) left_early(1);
  left_early(3);
  walking_pointer();
  block_pointer(100);
  behind_a_lock();
  hidden_name();
  behind_directives();
  beside_a_condition();
  return argv[argc] != NULL;
}
