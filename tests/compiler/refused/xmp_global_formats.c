#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block][block] onto p
int main(void) { return 0; }
// expected: 4:1: `t` has 1 dimension, and this names 2 formats
// remedy: give a format for each: block, cyclic, cyclic(n) or *
