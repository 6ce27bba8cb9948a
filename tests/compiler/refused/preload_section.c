#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
#pragma SMint preload a[:]
  return 0;
}
// expected: 5:24: cannot read the section [:]
// remedy: write [base:length:step]
