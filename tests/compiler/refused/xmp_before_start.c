#include <xmp.h>
int a[4]:[*];
int* pointer = &a[1];
int main(void) { return *pointer; }
// expected: 3:17: coarray `a` has no address before the program starts
// remedy: set this pointer in main, after the start
