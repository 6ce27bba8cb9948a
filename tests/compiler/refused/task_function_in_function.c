#include <smint.h>
#include <task.h>
#pragma SMint shared ::[](0,1)
int out;
int main(void) {
  int inner(int n) { return n + 1; }
#pragma hiroba task out(out)
  out = inner(2);
  return 0;
}
// expected: 7:1: the task cannot have `inner`, because it is a function in a function
// remedy: declare it outside of the function, or use a pointer
