#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  double* p = a;
#pragma hiroba task out(p[2:])
  p[2] = 1;
}
// expected: 5:25: `p[2:]` has no length, and is no array whose extent is known
// remedy: write [base:length] or [base:length:step]
