/* Shared memory is written outside of directives, and a parallel loop uses it, or it is read there, and the loop writes
 * it: the loop, or what leads to it, waits for all ranks. Behind each loop stands where, or that there is no wait. */
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N], b[N];
#pragma SMint shared ::[](0, 1)
double scale;

static double mine[N];
void elsewhere(int n);
void of_another_file(double* x);
void only_reads(const double* x);

static void by_name(void) {
  if (MYPID == 0) a[0] = 1;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[N - 1 - i]; /* waits here: a */
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = b[i]; /* does not wait */
#pragma SMint single
  a[0] = 2;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i]; /* does not wait */
  if (MYPID == 0) a[0] = 1;
#pragma SMint barrier
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i]; /* does not wait */
  if (MYPID == 0) scale = 1;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i] * scale; /* waits here: scale */
  if (MYPID == 0) scale = 1;
  sms_barrier();
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i] * scale; /* does not wait */
}

typedef double vector[N];
static void fill_vector(vector v) {
  for (int i = 0; i < N; i++) v[i] = 1;
}
static void by_other_ways(void) {
  fill_vector(a);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[N - 1 - i]; /* waits here: a */
  __builtin_memset(a, 0, sizeof a);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[N - 1 - i]; /* waits here: a */
}

static void another_array(void) {
  if (MYPID == 0) a[0] = 1;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = i; /* does not wait */
  if (MYPID == 0) a[0] = 1;
  mine[3] = 1;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = mine[i]; /* does not wait */
}

static void through_pointers(int n) {
#pragma SMint shared ::[n : NPROCS](0, NPROCS)
  double* block = malloc(n * sizeof(double));
  double *p = block, own[N], *q = own;
  for (int i = 0; i < N; i++) *q++ = i;
#pragma SMint parallel for
  for (int i = 0; i < n; i++) block[i] = own[i % N]; /* does not wait */
  while (p < block + n) *p++ = 1;
#pragma SMint parallel for
  for (int i = 0; i < n; i++) block[i] += 1; /* waits here: block */
  memset(block, 0, n * sizeof(double));
#pragma SMint parallel for
  for (int i = 0; i < n; i++) block[i] += 1; /* waits here: block */
  printf("%p %g\n", (void*)block, own[1]);
#pragma SMint parallel for
  for (int i = 0; i < n; i++) block[i] += 1; /* does not wait */
  double copy = memcmp(block, own, sizeof own);
#pragma SMint parallel for
  for (int i = 0; i < n; i++) b[i % N] = block[i]; /* does not wait */
#pragma SMint parallel for
  for (int i = 0; i < n; i++) block[i] += copy; /* does not wait */
  copy = block[3];
#pragma SMint parallel for
  for (int i = 0; i < n; i++) block[i] += copy; /* waits here: block */
  free(block);
}

static void around(void) {
  for (int i = 0; i < N; i++) a[i] = i;
  for (int t = 0; t < 3; t++) {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) b[i] = a[i]; /* waits before the loop: a */
#pragma SMint parallel for
    for (int i = 0; i < N; i++) a[i] = b[i]; /* does not wait */
  }
  for (int t = 0; t < 3; t++) {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) b[i] = a[i]; /* waits here: a */
    if (MYPID == 0) a[t] = 0;
  }
}

static void while_it_reads(void) {
  double *from = a, *to = b;
  while (a[0] < 3) {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) a[i] += 1; /* waits here: a */
  }
#pragma SMint barrier
  for (int t = 0; t < 3; t++) {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) to[i] = from[i]; /* does not wait */
    printf("%g\n", to[0]);
    double* swap = from;
    from = to;
    to = swap;
  }
}

static double first_of(const double* x) { return x[0]; }
static void called_readers(void) {
  double found = first_of(a);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = found; /* does not wait */
  found = first_of(a);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = found; /* waits here: a */
}

static void fill(double* x) {
  for (int i = 0; i < N; i++) x[i] = i;
}
static void loop_of(const double* x) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = x[i]; /* waits before the call: a */
}
static void called(void) {
  fill(mine);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i]; /* does not wait */
  fill(a);
  loop_of(a);
  fill(a);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i]; /* waits here: a */
}

static void unseen(void) {
  only_reads(a);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = i; /* waits here: b */
  of_another_file(mine);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = b[i]; /* waits here: a */
  if (MYPID == 0) a[1] = strtod("3", NULL) + strlen("4");
#pragma SMint parallel for nowait
  for (int i = 0; i < N; i++) b[i] = a[i]; /* waits here: a */
}

static void by_turns(int more) {
  if (more) {
    a[1] = 2;
  } else {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) b[i] = a[i]; /* does not wait */
  }
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = a[i]; /* waits here: a */
#pragma SMint critical
  scale += 1;
#pragma SMint parallel for tasks tile(8)
  for (int i = 0; i < N; i++) b[i] = a[i]; /* does not wait */
  if (MYPID == 0) a[1] = 2;
#pragma SMint parallel for tasks tile(8)
  for (int i = 0; i < N; i++) b[i] = a[i]; /* waits here: a */
}

int main(int argc, char** argv) {
  by_name();
  by_other_ways();
  another_array();
  through_pointers(100);
#pragma SMint barrier
  around();
#pragma SMint barrier
  while_it_reads();
#pragma SMint barrier
  called_readers();
#pragma SMint barrier
  called();
#pragma SMint barrier
  unseen();
#pragma SMint barrier
  by_turns(argc);
  return argv[argc] != NULL;
}
