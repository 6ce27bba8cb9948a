#include <smint.h>
int main(void) { return 0; }
#pragma SMint parallel for
// expected: 3:1: #pragma SMint parallel stands before no statement
// remedy: put it above a loop or a statement, in a function
