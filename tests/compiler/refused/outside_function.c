#include <smint.h>
#pragma SMint barrier
int main(void) { return 0; }
// expected: 2:1: #pragma SMint barrier stands outside of a function
// remedy: put it where it is to be done
