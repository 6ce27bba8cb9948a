#include <task.h>
double a[10];
int main(void) {
  int n = 3;
#pragma hiroba task out(a[0:n])
  {
    for (int i = 0; i < n; i++) a[i] = wrong + i;
  }
}
// expected: 7:40: 'wrong' undeclared (first use in this function)
