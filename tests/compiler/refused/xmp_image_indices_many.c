#include <xmp.h>
int a[4]:[*];
int main(void) { return a[1]:[0][1]; }
// expected: 3:31: `a` has 1 codimension, and 2 image indices are given
// remedy: give one index per codimension, behind one colon: a[i]:[k][l]
