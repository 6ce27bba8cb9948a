#include <xmp.h>
#define N 7
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp reduction(firstmax:a)
}
// expected: 9:1: `firstmax` of `a`, an aligned array
// remedy: write reduction(max:a), or another operator of it
