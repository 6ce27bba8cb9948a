#include <task.h>
double a[10][10];
int main(void) {
#pragma hiroba task reduction(+ : a[0:10][2:3])
  a[0][2] += 1;
}
// expected: 4:35: a reduction of `a[0:10][2:3]`, which has gaps
// remedy: name a variable, an element x[i], *p, or contiguous elements x[base:length]
