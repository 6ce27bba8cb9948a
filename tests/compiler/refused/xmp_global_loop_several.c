#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][*] onto p
double a[100][100];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
#pragma xmp loop (i) on t[i][*]
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 100; i++) a[i][0] = 1;
    for (int i = 0; i < 100; i++) a[i][1] = 1;
  }
}
// expected: 8:1: `i` is the variable of several loops here
// remedy: put a directive above each of the inner loops instead
