#include <xmp.h>
#pragma xmp coarray a:[*]
int main(void) { return 0; }
// expected: 2:21: `a` is not declared at file scope
// remedy: declare it above this line, outside of functions, or with its codimensions: a:[*]
