#include <smint.h>
int n = 10;
#pragma SMint shared ::[n:NPROCS](0, NPROCS)
double *a;
int main(void) { return 0; }
// expected: 4:9: `a` is allocated at the start, when the extents in its map are not known yet
// remedy: declare the pointer in a block, behind what its extents need, and pass it on
