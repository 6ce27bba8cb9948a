#include <task.h>
double a[10], b[4][4][4][4][4];
void f(int n) {
  double t[n];
  t[0] = 1;
#pragma hiroba task out(a[0])
  a[0] = t[0];
}
// expected: 6:1: the task cannot have `t`, because it is an array whose extent is known only at run time
// remedy: name it in shared(t), if it lives until the task has ended
