#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  a[0] = 1;
#pragma hiroba task out(a)
}
// expected: 5:1: #pragma hiroba task stands before no statement
// remedy: put it above a loop or a statement, in a function
