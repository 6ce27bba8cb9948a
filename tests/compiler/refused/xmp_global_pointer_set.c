#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template v[:]
#pragma xmp distribute v[block] onto p
double *q, *other;
#pragma xmp align q[i] with v[i]
int main(void) {
  q = other;
  return 0;
}
// expected: 10:3: `q` is an aligned pointer, and gets another address than that of xmp_malloc
// remedy: write q = xmp_malloc(xmp_desc_of(q), n), and move elements by gmove
