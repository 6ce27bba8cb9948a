#include <smint.h>
#pragma SMint shared ::[NPROCS(0, NPROCS)
double a[10];
int main(void) { return 0; }
// expected: 2:24: this map has a bracket that is not closed
// remedy: write for example ::[NPROCS][1](0,NPROCS)
