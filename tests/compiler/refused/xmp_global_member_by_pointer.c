#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
struct field { double a[20]; };
#pragma xmp align field.a[i] with t[i]
struct field s;
double of(struct field *f) { return f->a[0]; }
// expected: 8:25: `f` is no variable of the structure itself, and `field.a` is aligned
// remedy: use variables of `field`, which are declared below the align of `field.a`
