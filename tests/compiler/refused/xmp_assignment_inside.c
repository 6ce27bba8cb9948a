#include <xmp.h>
int b[4], c[4], x;
int main(void) {
  b[:] = c[:] + (x = c[:]);
  return 0;
}
// expected: 4:18: an assignment inside an array assignment
// remedy: write two statements
