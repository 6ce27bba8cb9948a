#include <stdio.h>
#include <xmp.h>
#define N 100
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N];
#pragma xmp align a[i] with t[i]
int bins[10], counted[10];

static double without(void) {
  double sum = 0;
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 0; i < N; i++) sum += a[i];
  return sum;
}

static double combined(void) {
  double sum = 0, part = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    double square = 0;
    square += a[i] * a[i];
    part += square;
  }
#pragma xmp reduction(+:part)
#pragma xmp task on p[0]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) sum += a[i];
  return part + sum;
}

int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    bins[(int)a[i] % 10]++;
    counted[(int)a[i] % 10]++;
  }
#pragma xmp reduction(+:counted)
  printf("%g %g %d %d\n", without(), combined(), bins[0], counted[0]);
  return 0;
}
// expected: 36:5: each node gets a `bins` of its own iterations only
// remedy: add reduction(+:bins) to the directive [-Wevery-rank]
