#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int f(void) { return 1; }
int main(void) { return f(); }
// expected: 2:1: no declaration of an array or a variable follows
// remedy: put this line above one
