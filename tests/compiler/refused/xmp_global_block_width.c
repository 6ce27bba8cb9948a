#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp template u[20][20]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][*] onto p
double a[20], m[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
#pragma xmp template z[:]
#pragma xmp distribute z[block(4)] onto p
int main(void) {
#pragma xmp template_fix[block(5)] z[20]
}
// expected: 13:1: `block(5)` is given for a dimension of `z` that is distributed by block(4)
// remedy: repeat the format of distribute; only gblock(*) gets its sizes here
