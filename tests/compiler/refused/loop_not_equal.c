#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int i;
#pragma SMint parallel for
  for (i = 0; i != 100; i += 2) a[i] = i;
  return 0;
}
// expected: 7:3: this is not a counted loop: it does not compare `i` by < or <= with its end
// remedy: write for (i = first; i < end; i += step), and leave by its condition only
