#include <xmp.h>
int f(void):[*];
int main(void) { return f(); }
// expected: 2:12: a function cannot be a coarray
// remedy: declare the array that it works on as one
