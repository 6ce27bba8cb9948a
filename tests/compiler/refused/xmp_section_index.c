#include <xmp.h>
int a[4]:[*], order[4];
int main(void) {
  int t[4];
  t[:] = a[order[0:4]]:[0];
  return 0;
}
// expected: 5:17: `order[0:4]` is a section, and one value is needed here
// remedy: assign it to an array first, which is a statement: b[0:n] = order[0:4];
