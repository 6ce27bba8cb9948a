#include <xmp.h>
#pragma xmp barrier
int main(void) { return 0; }
// expected: 2:1: #pragma xmp barrier stands outside of a function
// remedy: put it where it is to be done
