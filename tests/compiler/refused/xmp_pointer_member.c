#include <xmp.h>
struct s {
  int* p;
} v[2]:[*];
int main(void) { return v[1].p[3]:[0]; }
// expected: 5:25: what a pointer on another image points to is not part of the coarray
// remedy: read the pointer's coarray by name, or keep an index instead of a pointer
