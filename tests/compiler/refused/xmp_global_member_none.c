#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
struct { int n; double a[100]; } s;
#pragma xmp align s.b[i] with t[i]
int main(void) { return s.n; }
// expected: 6:19: `s.b` is no member of a variable
// remedy: align a member by the variable and its name: struct { double a[9]; } s; align s.a[i] with t[i]
