#include <smint.h>
#pragma SMint shared ::[NPROCS][][](0, NPROCS)
double a[10][20];
int main(void) { return 0; }
// expected: 2:1: the map has 3 brackets, and the array has 2 dimensions
// remedy: give one bracket per dimension; [1] or [] where it is not divided
