/* Loops of XcalableMP's global view whose results are those of a node's own iterations, and what looks so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#define N 100
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N];
#pragma xmp align a[i] with t[i]
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

int main(void) {
  double two[2] = {0}, bins[10] = {0};
  int at[1] = {0};
  reset_elsewhere = 0;
  adds_to_the_file();
  adds_to_a_parameter(two, &best, 10, bins);
  while_it_changes();
  printf("%g %g\n", of_the_file + member(), two[0] + bins[3] + in_turn(1, two, at));
}
