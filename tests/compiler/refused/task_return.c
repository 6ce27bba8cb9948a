#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba task out(a)
  {
    a[0] = 1;
    return 1;
  }
}
// expected: 7:5: `return` leaves what #pragma hiroba task stands above
// remedy: set a variable there, and decide behind it
