#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp static_desc :: p, x
int x;
int main(void) { return 0; }
// expected: 3:31: `x` is no node array, template or aligned array
// remedy: declare it before: by #pragma xmp nodes, template or align
