#include <smint.h>
#include <task.h>
#pragma SMint shared ::[](0,1)
int out;
int f(n) {
#pragma hiroba task out(out)
  out = n;
  return 0;
}
int main(void) {
#pragma hiroba taskwait
  return 0;
}
// expected: 6:1: the task cannot have `n`, because its declaration cannot be read
// remedy: declare it outside of the function, or use a pointer
