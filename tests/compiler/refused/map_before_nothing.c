#include <smint.h>
int n;
#pragma SMint shared ::[NPROCS](0, NPROCS)
// expected: 3:1: no declaration of an array or a variable follows
// remedy: put this line above one
