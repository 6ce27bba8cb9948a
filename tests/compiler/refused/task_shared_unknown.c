#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task shared(q)
  a[0] = 1;
}
// expected: 4:28: shared(q) does not name a variable
// remedy: write shared(x), x a variable
