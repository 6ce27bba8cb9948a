#include <xmp.h>
int b[4];
int main(void) {
  if (b[1:2]) return 1;
  return 0;
}
// expected: 4:8: `b[1:2]` is a section, and one value is needed here
// remedy: assign it to an array first, which is a statement: b[0:n] = b[1:2];
