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
  double most = 0;
#pragma xmp loop (i,j) on u[i][j] reduction(firstmax:most)
  for (int i = 0; i < 20; i++) {
    for (int j = 0; j < 20; j++) if (b[i][j] > most) most = b[i][j];
    if (most > 5) break;
  }
}
// expected: 15:19: `break` ends the loop over `i`, around the one whose iterations firstmax and its like compare
// remedy: end the inner loop, and test a variable after it
