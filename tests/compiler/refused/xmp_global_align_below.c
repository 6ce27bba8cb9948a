#include <xmp.h>
#pragma xmp nodes p[4]
double* b;
int main(void) {
  b = xmp_malloc(xmp_desc_of(b), 20);
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
#pragma xmp align b[i] with t[i]
  return b == 0;
}
// expected: 8:19: `b` is used above this line, at line 5: it is aligned here, in the block
// remedy: put nodes, template, distribute and align at file scope, below its declaration
