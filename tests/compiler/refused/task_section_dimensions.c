#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(b[0:2][0:2][0:2][0:2][0:2])
  b[0][0][0][0][0] = 1;
}
// expected: 4:25: `b[0:2][0:2][0:2][0:2][0:2]` is a section in 5 dimensions; at most 4
// remedy: name several sections
