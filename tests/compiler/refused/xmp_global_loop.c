#include <xmp.h>
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 10; i++) {
  }
  return 0;
}
// expected: 3:1: #pragma xmp loop belongs to XcalableMP's global view, and Hiroba has its local view
// remedy: use #pragma SMint shared ::[NPROCS](0,NPROCS) and parallel for, or coarrays
