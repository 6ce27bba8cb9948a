#include <smint.h>
#include <task.h>
#pragma SMint shared ::[](0,1)
int out;
int main(void) {
  int a[] = {[3] = 1, 2};
#pragma hiroba task out(out)
  out = a[4];
  return 0;
}
// expected: 7:1: the task cannot have `a`, because its extent is that of its first value: write it, as in [10]
// remedy: declare it outside of the function, or use a pointer
