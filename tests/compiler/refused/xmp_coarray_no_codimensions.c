#include <xmp.h>
int a[4];
#pragma xmp coarray a
int main(void) { return a[0]; }
// expected: 3:1: `a` has no codimensions
// remedy: write a:[*]
