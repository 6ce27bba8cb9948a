#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task in(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]) inout(b[0], b[1], b[2], b[3]) \
    in(b[0][0][0], b[0][1], b[0][2])
  b[0][0][0][0][0] = 1;
}
// expected: 4:1: a task with 17 accesses; at most 16
// remedy: name larger sections, or split the task
