#include <xmp.h>
int a[4]:[];
int main(void) { return a[1]; }
// expected: 2:9: empty codimensions are those of a pointer to a coarray
// remedy: write :[*]
