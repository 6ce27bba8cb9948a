#include <xmp.h>
int main(void) {
#pragma xmp wait_async
}
// expected: 3:1: #pragma xmp wait_async names no number of an async
// remedy: write wait_async(1)
