#include <xmp.h>
struct flags {
  unsigned on : 1, level : 5;
} f:[*];
int main(void) {
  f:[0].level += 2;
}
// expected: 6:3: `f:[0].level` is a bit-field, which has no address
// remedy: to read it, assign its value to a variable; to write it, copy the struct, change that, and assign it
