#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  struct point {
    int x;
  } p = {1};
#pragma hiroba task out(a[0])
  a[0] = p.x;
}
// expected: 7:1: the task cannot have `p`, because its type is declared in the function
// remedy: declare it outside of the function, or use a pointer
