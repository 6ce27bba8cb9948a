#include <xmp.h>
int main(void) {
#pragma xmp barrier async(1)
}
// expected: 3:21: `async` in #pragma xmp barrier
// remedy: this directive takes on
