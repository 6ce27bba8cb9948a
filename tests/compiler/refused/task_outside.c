#include <task.h>
double a[10], b[4][4][4][4][4];
#pragma hiroba taskwait
int main(void) { return a[0] > 1; }
// expected: 3:1: #pragma hiroba taskwait stands outside of a function
// remedy: put it where it is to be done
