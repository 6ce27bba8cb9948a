#include <xmp.h>
struct flags {
  unsigned on : 1, level : 5;
} f;
int main(void) {
#pragma xmp bcast(f.level)
}
// expected: 6:1: `f.level` is a bit-field, which has no address
// remedy: to read it, assign its value to a variable; to write it, copy the struct, change that, and assign it
