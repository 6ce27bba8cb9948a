#include <xmp.h>
int x;
int main(void) { return xmp_desc_of(x) != 0; }
// expected: 3:25: xmp_desc_of needs a coarray, an aligned array, a template or a node array, and `x` is none
// remedy: declare it with :[*], or by #pragma xmp align, template or nodes
