#include <smint.h>
int main(void) {
#pragma SMint preload
  return 0;
}
// expected: 3:1: preload needs a section of an array
// remedy: write for example preload A[0:n][0:m]
