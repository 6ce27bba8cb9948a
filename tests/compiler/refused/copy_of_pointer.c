#include <smint.h>
#include <stdio.h>
int main(void) {
  static char line[80];
  char* p = line;
#pragma SMint single copy(p)
  if (!fgets(p, 80, stdin)) p[0] = 0;
  return 0;
}
// expected: 6:27: copy(p) does not name a variable or an array that the statement below sets
// remedy: what a pointer points to has no size here: name the array itself, or read into one
