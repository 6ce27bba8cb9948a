#include <xmp.h>
int b[4];
int main(void) {
  int y = (b[0:2] = 3);
  return y;
}
// expected: 4:12: an assignment to a section is a statement, and has no value
// remedy: write it as a statement of its own
