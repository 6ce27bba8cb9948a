#include <smint.h>
#pragma SMint shared
double a[10];
int main(void) { return 0; }
// expected: 2:1: #pragma SMint shared without a map
// remedy: write for example ::[NPROCS][](0,NPROCS)
