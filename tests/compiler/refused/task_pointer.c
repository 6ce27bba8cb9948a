#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  double* p = a;
#pragma hiroba task out(p)
  p[0] = 1;
}
// expected: 5:25: `p` is a pointer, and tasks use what it points to
// remedy: write for example p[0:n], or *p
