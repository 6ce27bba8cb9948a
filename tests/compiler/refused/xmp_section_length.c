#include <xmp.h>
int a[4]:[*];
void f(int* p) { p[2:] = a[2:]; }
// expected: 3:19: how long this section is cannot be known: it is not that of an array
// remedy: write its length, as in p[0:n]
