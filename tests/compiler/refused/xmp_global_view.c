#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
int main(void) { return 0; }
// expected: 3:1: #pragma xmp template belongs to XcalableMP's global view, and Hiroba has its local view
// remedy: use #pragma SMint shared ::[NPROCS](0,NPROCS) and parallel for, or coarrays
