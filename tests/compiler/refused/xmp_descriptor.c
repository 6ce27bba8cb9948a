#include <xmp.h>
int x;
int main(void) { return xmp_desc_of(x) != 0; }
// expected: 3:25: xmp_desc_of needs the name of a coarray or of a node array, and `x` is none
// remedy: declare it with :[*], or by #pragma xmp nodes
