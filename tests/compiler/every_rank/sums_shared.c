/* Sums in shared memory of which all iterations change the same element: errors. */
#include <smint.h>
#include <stdio.h>

enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double x[N], y[N];
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][N];
#pragma SMint shared ::[](0, 1)
double total;
#pragma SMint shared ::[](0, 1)
int count;
/* In the loops that are right one lock, or one rank, changes each of these. */
#pragma SMint shared ::[](0, 1)
double chosen, locked, whole, zero;

static void columns(double* v) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) v[j] += a[i][j]; /* same element */
}
static void scalars(int limit) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) total += x[i]; /* same element */
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (x[i] > limit) count++; /* same element */
}
static void extremes(double* least) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (x[i] > total) total = x[i]; /* same element */
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (*least >= x[i]) *least = x[i]; /* same element */
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (y[i] < a[i][j]) y[i] = a[i][j];
}
static void moving(void) {
  int i, j;
#pragma SMint parallel for
  for (i = 0; i < N; i++) {
    double* p = y;
    for (j = 0; j < N; j++) *p++ += a[i][j]; /* same element */
  }
}
static void to_one(double* to, const double* from, int n) {
#pragma SMint parallel for
  for (int i = 0; i < n; i++) *to = *to + from[i]; /* same element */
}

static void add(double x) { total += x; /* same element */ }
static void add_to(int* n) { ++*n; /* same element */ }
static void by_functions(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    add(x[i]);
    add_to(&count);
  }
}

static void add_right(double* to) { *to += 1; }
static void add_chosen(int i) {
  if (i == 0) chosen += 1;
}
static void add_locked(double v) {
  sms_lock(6);
  locked += v;
  sms_unlock(6);
}
static int what_is_right(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    double *p = a[i], *q = &x[i], t[4] = {0}, r = 0, (*row)[N] = &a[i];
    int k = i;
    for (int j = 0; j < N; j++) y[i] += a[i][j];
    for (int j = 0; j < N; j++) *p++ += 1;
    y[k] += 1;
    *q += 1;
    for (int j = 0; j < 4; j++) t[j] += 1;
    r += t[1];
    q[0] += r;
    (*row)[1] += 1;
    if (i == 0) total += 1;
  }
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
#pragma SMint critical
    total += x[i];
#pragma SMint critical
    {
      whole += 1;
    }
    add_right(&y[i]);
    add_right(&a[i][1]);
    add_right(a[i] + 2);
    double* q = &x[i];
    add_right(q);
    add_chosen(i);
    add_locked(1);
    if (i == 3) add_right(&y[3]);
    sms_lock(5);
    count++;
    sms_unlock(5);
  }
#pragma SMint parallel for independent
  for (int i = 0; i < N; i++) zero += 0;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (i == 4) chosen += 1;
#pragma SMint barrier
  return total == 1 + 2 * N && y[0] == 2 && chosen == 2 && locked == N && whole == N && count == N;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    columns(y);
    scalars(argc);
    extremes(y);
    moving();
    by_functions();
    to_one(&total, x, N);
  }
  int right = what_is_right();
  if (MYPID == 0) puts(right ? "OK" : "WRONG");
  return argv == 0;
}
