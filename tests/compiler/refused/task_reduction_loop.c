#include <task.h>
double x[10];
int main(void) {
#pragma hiroba taskloop grainsize(2) reduction(+ : x[i])
  for (int i = 0; i < 10; i++) x[i] += 1;
}
// expected: 4:52: a reduction of `x[i]`, which follows from `i`
// remedy: name a variable, an element x[i], *p, or contiguous elements x[base:length]
