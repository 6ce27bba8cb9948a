#include <xmp.h>
int a[4]:[*];
int main(void) {
  int x;
  x = a[0:2]:[0];
  return x;
}
// expected: 5:8: `a[0:2]:[0]` is a section, and one value is needed here
// remedy: assign it to an array first, which is a statement: b[0:n] = a[0:2]:[0];
