#include <xmp.h>
#define N 7
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp bcast(a[0:3])
}
// expected: 9:1: `a[0:3]` is a section of an aligned array, of which each node has a part
// remedy: name one element, or the array as a whole in a directive reduction or bcast of its own
