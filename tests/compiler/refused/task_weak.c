#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task weakinout(a[0:3])
  a[0] = 1;
}
// expected: 4:21: `weakinout` in #pragma hiroba task is for tasks whose children use the data
// remedy: name it without `weak`: a task ends after its children
