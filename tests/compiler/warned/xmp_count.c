#include <stdio.h>
#include <xmp.h>
#define N 100
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
int a[N];
#pragma xmp align a[i] with t[i]
int main(void) {
  int count = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) count += a[i] > 0;
  printf("%d\n", count);
  return 0;
}
// expected: 12:31: each node gets a `count` of its own iterations only
// remedy: add reduction(+:count) to the directive [-Wevery-rank]
