#include <xmp.h>
struct flags {
  unsigned on : 1, level : 5;
} f[4]:[*];
int main(void) {
  int a[4];
  a[0:4] = f[0:4].level:[0];
  return a[0];
}
// expected: 7:12: `f[0:4].level:[0]` is a bit-field, which has no address
// remedy: to read it, assign its value to a variable; to write it, copy the struct, change that, and assign it
