#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for tasks tile()
  for (int i = 0; i < 10; i++) a[i][0] = i;
  return 0;
}
// expected: 5:34: `tile` has nothing in its bracket
// remedy: write tile(128,128)
