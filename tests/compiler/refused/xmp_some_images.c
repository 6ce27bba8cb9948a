#include <xmp.h>
int a[4]:[*];
int main(void) {
  int b[4];
  b[0:2] = a[1]:[0:2];
  return b[0];
}
