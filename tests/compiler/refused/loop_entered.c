#include <smint.h>
#pragma SMint shared ::[NPROCS](0,NPROCS)
int a[8];
int main(int argc, char** argv) {
  int i = 0;
  if (argc > 1) goto inside;
#pragma SMint parallel for
  for (i = 0; i < 8; i++) {
  inside:
    a[i] = i;
  }
  return argv == 0;
}
// expected: 6:17: `goto` enters what #pragma SMint parallel stands above
// remedy: let the statement begin with what is jumped to
