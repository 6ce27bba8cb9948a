#include <xmp.h>
struct flags {
  unsigned on : 1, level : 5;
} f[4]:[*];
int main(void) {
  f[1].level:[0] = 7;
}
// expected: 6:3: `f[1].level:[0]` is a bit-field, which has no address
// remedy: to read it, assign its value to a variable; to write it, copy the struct, change that, and assign it
