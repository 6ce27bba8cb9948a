/* Loops of XcalableMP's global view whose results are those of a node's own iterations, and what looks so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#define N 100
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N], m[N][N];
#pragma xmp align a[i] with t[i]
#pragma xmp nodes q[2][*]
#pragma xmp template u[N][N]
#pragma xmp distribute u[block][block] onto q
#pragma xmp align m[i][j] with u[i][j]
double of_the_file, reset_elsewhere;
struct best {
  double v;
  int at;
} best;

static void adds_to_the_file(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) of_the_file += a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) reset_elsewhere += a[i];
}

static void adds_to_a_parameter(double* sum, struct best* of, int n, double h[n]) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) *sum += a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) sum[1] += a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) h[(int)a[i] % n] += a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    if (a[i] > of->v) of->v = a[i], of->at = i; /* own nodes */
}

static double member(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    if (a[i] < best.v) {
      best.v = a[i]; /* own nodes */
      best.at = i;
    }
  return best.v + best.at;
}

static void while_it_changes(void) {
  double change = 1;
  while (change > 0.1) {
    change = 0;
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) change = fmax(change, a[i]); /* own nodes */
  }
  int again = 1;
  do {
    again = 0;
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++)
      if (a[i] > 3) again = 1; /* own nodes */
  } while (again);
}

static double in_turn(int n, const double* w, const int* at) {
  double most = 0, temporary = 0, sum = 0;
  int flag, last = 0;
  for (int step = 0; step < 3; step++) {
#pragma xmp loop on t[i] reduction(max:most)
    for (int i = 0; i < N; i++) most = fmax(most, a[i]);
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) {
      temporary = a[i] * 2;
      if (temporary > 3) temporary = 3;
      flag = 0;
      for (int k = 0; k < n; k++)
        if (w[at[k]] > temporary) flag = 1;
      sum = 0;
      for (int k = 0; k < n; k++) sum += w[k];
      a[i] = flag + sum + temporary;
      last = i;
    }
    temporary = sum = flag = 0;
  }
  double part = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) part = part > a[i] ? part : a[i];
#pragma xmp reduction(max:part)
  double local = 0;
#pragma xmp task on p[0]
  {
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++) local += a[i];
  }
  double never = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) never += a[i];
  return most + part + temporary + sum + flag + local + (last < 0);
}

static int last_ones(double wanted, const char** why) {
  int place = -1, row = -1, first = 0, count = 0, height = 0, length = 0, list[N];
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    if (a[i] == wanted) place = i; /* own nodes */
#pragma xmp loop (i, j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (m[i][j] == wanted) {
        row = i;   /* own nodes */
        count = 2; /* own nodes */
      }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    if (height++ == 0) first = i;
    if (a[i] < 0) *why = "negative";
    if (a[i] == 2) list[length++] = i;
  }
  if (length > 0) first += list[0];
  return place + row + first + count + height;
}

static double of_elements(double* p, double rows[N], double own[N], int bins[4]) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) *p += a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    bins[i % 4] += 1;  /* own nodes */
    own[N - 1 - i] += a[i];
  }
#pragma xmp loop (i, j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) rows[i] += m[i][j]; /* own nodes */
  return *p + rows[3] + own[3] + bins[1];
}

static double through_pointers(void) {
  double sum = 0, largest = 0, two[2] = {0}, inner = 0, never = 0, anew = 0, later = 0;
  struct best of = {0, 0};
  double *to_sum = &sum, *to_largest = &largest, *r = two, *s = &of.v, *unused = &never, *set = &anew,
         *combined = &later;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) *to_sum += a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    if (*to_largest < a[i]) *to_largest = a[i]; /* own nodes */
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    double* inside = &inner;
    *inside += a[i]; /* own nodes */
    *s += a[i];      /* own nodes */
    r[1] *= a[i];    /* own nodes */
  }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    double one = a[i], *of_one = &one, *at = &a[i];
    *of_one += 1;
    *at += one;
    *unused += a[i];
    *set = 0;
    *set += a[i];
    *combined += a[i] + *set;
  }
#pragma xmp reduction(+:later)
  return sum + largest + two[1] + inner + of.v + anew + later;
}

int main(void) {
  double two[2] = {0}, bins[10] = {0}, rows[N] = {0}, own[N] = {0};
  int at[1] = {0}, four[4] = {0};
  reset_elsewhere = 0;
  adds_to_the_file();
  adds_to_a_parameter(two, &best, 10, bins);
  while_it_changes();
  const char* why = "";
  printf("%d %s %g\n", last_ones(3, &why), why, of_elements(two, rows, own, four));
  printf("%g %g\n", of_the_file + member(), two[0] + bins[3] + in_turn(1, two, at) + through_pointers());
}
