#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template v[:]
#pragma xmp distribute v[block] onto p
double *q, *other;
#pragma xmp align q[i] with v[i]
int main(void) {
#pragma xmp template_fix t[100]
  return 0;
}
// expected: 10:1: template `t` has its extents already
// remedy: declare it without: t[:]
