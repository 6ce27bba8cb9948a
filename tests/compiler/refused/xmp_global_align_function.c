#include <xmp.h>
#pragma xmp nodes p[4]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
double b[20];
static double last(void) { return b[19]; }
int main(void) {
#pragma xmp align b[i] with t[i]
  return last() > 0;
}
// expected: 8:19: `b` is used outside of this block, at line 6: it is aligned here, in the block
// remedy: put nodes, template, distribute and align at file scope, below its declaration
