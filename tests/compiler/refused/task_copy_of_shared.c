#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[10];
int main(void) {
#pragma hiroba task firstprivate(a)
  a[0] = 1;
}
// expected: 5:34: firstprivate(a) wants copies of what is shared
// remedy: name it in in(..) or out(..)
