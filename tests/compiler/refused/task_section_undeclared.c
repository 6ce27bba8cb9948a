#include <task.h>
double a[10];
int main(void) {
#pragma hiroba task out(a[0:wrong])
  a[0] = 1;
}
// expected: 4:1: 'wrong' undeclared (first use in this function)
