/* Loops over aligned arrays that no directive divides, and loops that a node is meant to do alone. */
#include <stdio.h>
#include <xmp.h>
#define N 64
#pragma xmp nodes p[*]
#pragma xmp nodes one[1]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template q[N][N]
#pragma xmp distribute q[*][cyclic] onto p
#pragma xmp template alone[N]
#pragma xmp distribute alone[block] onto one
double a[N], b[N], whole[N], c[N][N], rows[N][N], of_one[N], copies[N];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with t[i]
#pragma xmp align whole[i] with t[i]
#pragma xmp shadow whole[*]
#pragma xmp align c[i][j] with q[i][j]
#pragma xmp align rows[i][*] with t[i]
#pragma xmp align of_one[i] with alone[i]
#pragma xmp align copies[i] with q[i][*]

static double forgotten(int n) {
  double sum = 0;
  int i, j;
  for (i = 0; i < N; i++) a[i] = i;             /* not divided */
  for (int k = N - 1; k >= 0; k--) b[k] = a[k]; /* not divided */
  for (int k = 1; k <= N - 2; k++) b[k] = 2;    /* not divided */
  for (int step = 0; step < 3; step++)
    for (i = 0; i < N; i += 1) sum += a[i]; /* not divided */
  for (i = 0; i < N; i++)                   /* not divided */
    for (j = 0; j < N; j++) rows[i][j] = 1;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) c[i][j] = 1; /* not divided */
#pragma xmp loop on t[i]
  for (i = 0; i < N; i++) {
    rows[i][0] = 2;
    for (j = 0; j < N; j++) rows[i][1] += b[j]; /* not divided */
  }
  if (n > 3)
    for (i = 0; i < N; i++) printf("%g\n", a[i]); /* not divided */
  for (i = 0; i < N; i++)                         /* not divided */
    if (i > 3) a[i] = 2;
  for (i = 0; i < N; i++) { /* not divided */
    if (i == 0 || i == N - 1) continue;
    b[i] = 2;
  }
  for (i = N - 1; i >= 0; i--) /* not divided */
    if (i % 4 != 0 && !(i == 5)) a[i] = 3;
  i = 0;
  while (i < N) { /* not divided */
    a[i] = i;
    i++;
  }
  int m = N;
  while (m > 0) { /* not divided */
    sum += a[m - 1];
    m--;
  }
  for (i = 0; i < N;) { /* not divided */
    b[i] = i;
    i += 1;
  }
  i = -1;
  while (++i < N) a[i] = 1; /* not divided */
  i = 0;
  while (i < N) a[i++] = 1; /* not divided */
  i = 0;
  for (; i < N; i++) a[i] = 1; /* not divided */
  i = N - 1;
  while (1) { /* not divided */
    if (i < 0) break;
    sum += b[i--];
  }
  int d = 0;
  do { /* not divided */
    a[d] = d;
    d += 1;
  } while (d < N);
  return sum;
}

static void forgotten_of_run_time(int n) {
  double v[n];
#pragma xmp template r[n]
#pragma xmp distribute r[block] onto p
#pragma xmp align v[i] with r[i]
  for (int i = 0; i < n; i++) v[i] = i;     /* not divided */
  for (int i = 1; i < n - 1; i++) v[i] = i; /* not divided */
#pragma xmp loop on r[i]
  for (int i = 0; i < n; i++) v[i] = i;
}

static double meant(int n, int lo, int hi) {
  double sum = 0, own[N];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    a[i] = 0;
    for (int j = 0; j < N; j++) rows[i][j] = j;
  }
  for (int i = lo; i < hi; i++) a[i] = 1;
  for (int i = 0; i < n; i++) a[i] = 1;
  for (int i = 0; i < 2; i++) a[i] = 1;
  for (int i = 0; i < N; i++)
    if (i >= lo && i < hi) a[i] = 1;
  for (int i = 0; i < N; i++)
    if (i < N / 2) a[i] = 1;
  for (int i = 0; i < N; i++)
    if (i % 2) a[i] = 1;
  for (int i = 0; i < N; i++)
    if (i / 16 == 2) a[i] = 1;
  for (int i = 0; i < N; i++) {
    if (i < lo) continue;
    if (i < hi) b[i] = 1;
  }
#pragma xmp gmove
  whole[:] = a[:];
  for (int i = 0; i < N; i++) sum += whole[i] + of_one[i] + copies[i] + own[0];
  for (int i = 0; i < N; i++) own[i] = sizeof a[i];
  for (int i = 0; i < N; i++) {
#pragma xmp gmove
    own[i] = b[i];
  }
#pragma xmp task on p[0]
  for (int i = 0; i < N; i++) own[i] = a[i];
#pragma xmp loop on q[*][j]
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) c[i][j] = 1;
  for (int i = 0; i < N; i++) {
#pragma xmp loop on q[i][j]
    for (int j = 0; j < N; j++) c[i][j] = 1;
  }
  int k = lo;
  while (k < hi) a[k++] = 1;
  k = 0;
  while (k < N) {
    b[k] = 1;
    k++;
    if (k == 16) k = N;
  }
  k = 0;
  while (k < 2) {
    b[k] = 1;
    k++;
  }
  return sum;
}

int main(void) {
  forgotten_of_run_time(N);
  return forgotten(1) > meant(1, 0, 1);
}
