#include <xmp.h>
int a[4]:[*];
void f(int* p) { p[0:2] = a[2:2:1:1]:[0]; }
// expected: 3:28: a section has at most three parts
// remedy: write [base:length:step]
