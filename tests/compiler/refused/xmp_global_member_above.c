#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
struct field { double a[20]; } s;
#pragma xmp align field.a[i] with t[i]
// expected: 5:32: `s` is declared above its alignment, and `field.a` is aligned
// remedy: use variables of `field`, which are declared below the align of `field.a`
