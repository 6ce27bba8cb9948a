#include <xmp.h>
int a[4]:[*];
int f(int* p);
int main(void) { return f(a[0:2]:[0]); }
// expected: 4:28: `a[0:2]:[0]` is a section, and one value is needed here
// remedy: assign it to an array first, which is a statement: b[0:n] = a[0:2]:[0];
