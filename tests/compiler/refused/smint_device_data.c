#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop copyin(b)
  for (int i = 0; i < 10; i++) a[i][0] = b[i][0];
  return 0;
}
// expected: 6:27: `copyin` below #pragma SMint parallel for device
// remedy: the data of the loop goes to devices by its subscripts: take the clause away
