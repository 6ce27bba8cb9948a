#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double* q;
#pragma xmp align q[i] with t[i]
int main(void) {
  q = (double*)xmp_malloc(100 * sizeof(double));
  return 0;
}
// expected: 8:15: xmp_malloc has no extents: its arguments are a descriptor, and the extent of each dimension
// remedy: write a = xmp_malloc(xmp_desc_of(a), n, m)
