#include <smint.h>
#include <task.h>
#pragma SMint shared ::[](0,1)
int out;
int main(void) {
  register int r = 1;
#pragma hiroba task out(out) shared(r)
  out = r;
  return 0;
}
// expected: 7:1: the task cannot have `r`, because it is a register variable, which has no address
// remedy: declare it outside of the function, or use a pointer
