#include <xmp.h>
int a[4]:[2][*];
int main(void) { return a[1]:[0]; }
// expected: 3:31: `a` has 2 codimensions, and 1 image index is given
// remedy: give one index per codimension, behind one colon: a[i]:[k][l]
