#include <xmp.h>
#pragma xmp nodes p
int main(void) { return 0; }
// expected: 2:1: cannot read the node array `p`
// remedy: write p[4], p[2][*] or p(2,*)
