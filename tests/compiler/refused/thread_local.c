#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
static __thread double a[10];
int main(void) { return a[0] > 0; }
// expected: 3:24: `a` is shared by all ranks, and `__thread` has one each
// remedy: leave `__thread` out
