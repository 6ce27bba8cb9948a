#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  enum { FIRST = 3 };
#pragma hiroba task out(a[0])
  a[0] = FIRST;
}
// expected: 6:10: `FIRST` is declared in the function, and the body of a task is a function of its own
// remedy: declare it outside of the function
