#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i][*]
int main(void) { return 0; }
// expected: 6:1: template `t` has 1 dimension, and this names 2
// remedy: name each: an index, or * where each node has a copy
