#include <xmp.h>
struct list {
  struct list* next;
  int value;
} l:[*];
int main(void) { return l.next->value:[0]; }
// expected: 6:25: what a pointer on another image points to is not part of the coarray
// remedy: read the pointer's coarray by name, or keep an index instead of a pointer
