#include <xmp.h>
#pragma xmp nodes p[2][*]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][block] onto p
double a[100][100];
#pragma xmp align a[i][j] with t[i][j]
int main(void) {
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++) a[j][5] = i;
}
// expected: 10:37: the loop over `j` is on dimension 2 of `t`, and this dimension of `a` is aligned with dimension 1
// remedy: let the loop variable stand in the same dimension of both
