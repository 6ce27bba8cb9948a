#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 3; j++)
      if (a[i] == j) return 1;
  return 0;
}
// expected: 8:22: `return` leaves what #pragma SMint parallel stands above
// remedy: set a variable there, and decide behind it
