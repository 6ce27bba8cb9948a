#include <xmp.h>
#pragma xmp nodes p[*][*]
int main(void) { return 0; }
// expected: 2:1: `p` has more than one `*`
// remedy: give all extents but one
