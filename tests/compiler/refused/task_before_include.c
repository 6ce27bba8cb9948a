#include <smint.h>
double a[10];
int f(void) {
#pragma hiroba taskwait
  return a[0] > 1;
}
#include <task.h>
// expected: 4:1: this stands before #include <task.h>
// remedy: include it before
