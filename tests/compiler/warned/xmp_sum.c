#include <stdio.h>
#include <xmp.h>
#define N 100
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N];
#pragma xmp align a[i] with t[i]
int counted[10];

static double without(void) {
  double sum = 0;
#pragma xmp loop on t[i]
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
    counted[(int)a[i] % 10]++;
  }
#pragma xmp reduction(+:counted)
  printf("%g %g %d\n", without(), combined(), counted[0]);
  return 0;
}
// expected: 14:31: each node gets a `sum` of its own iterations only
// remedy: add reduction(+:sum) to the directive [-Wevery-rank]
