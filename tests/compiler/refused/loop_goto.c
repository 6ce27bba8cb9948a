#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 100; i++)
    if (a[i] == 7) goto out;
out:
  return 0;
}
// expected: 7:20: `goto` leaves what #pragma SMint parallel stands above
// remedy: set a variable there, and decide behind it
