#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(b[0:2][0:2][0:2][0:2][1])
  b[0][0][0][0][1] = 1;
}
// expected: 4:25: `b[0:2][0:2][0:2][0:2][1]` is a section in 4 dimensions with gaps in all of them
// remedy: let the last bracket be [base:length]
