#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(a[0:1:2:3])
  a[0] = 1;
}
// expected: 4:25: cannot read the section `a[0:1:2:3]`
// remedy: write [base:length] or [base:length:step]
