#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
struct { int n; double a[100]; } s, other;
#pragma xmp align s.a[i] with t[i]
int main(void) {
  other = s;
  return other.n;
}
// expected: 8:11: `s` is used as a whole, and s.a of it is aligned: each node has its part elsewhere
// remedy: use s.a, or declare the member as a pointer and allocate it by xmp_malloc
