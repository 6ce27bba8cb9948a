#include <xmp.h>
int m[4][4], v[4];
int main(void) {
  v[:] = m[:][:] + 1;
  return 0;
}
// expected: 4:10: `m[:][:]` has 2 dimensions, and the left side has 1
// remedy: give sections of as many dimensions; an index instead of a section takes one away
