#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int next(void);
int main(void) {
  int i;
#pragma SMint parallel for
  for (i = 0; i < 100; i += next()) a[i] = i;
  return 0;
}
// expected: 8:3: this is not a counted loop: it does not change `i` by a number that stays the same
// remedy: write for (i = first; i < end; i += step), and leave by its condition only
