#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS) cached
double a[10];
int main(void) { return 0; }
// expected: 2:44: `cached` behind the map of #pragma SMint shared
// remedy: end the line behind the map
