#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[20][20]
#pragma xmp distribute u[block][*] onto p
double a[100], b[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i][*] with u[i][*]
int main(void) {
  double sum = 0, found = 0;
#pragma xmp loop on t[i] reduction(max:found)
  for (int i = 0; i < 100; i++) {
    double x = a[i];
    x *= 2;
    if (x > 3) { found = 1; break; }
  }
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 0; i < 100; i++) {
    if (a[i] < 0) break;
    sum += a[i];
  }
  return found + sum > 3;
}
// expected: 20:19: `break` ends the iterations of one node: others go on, with `sum += a[i]`
// remedy: find the iteration first, by a loop with reduction(min:place), and let this one end there [-Wevery-rank]
