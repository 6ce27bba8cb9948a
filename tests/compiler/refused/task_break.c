#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
  for (int i = 0; i < 3; i++) {
#pragma hiroba task out(a[i])
    {
      if (i == 2) break;
      a[i] = 1;
    }
  }
}
// expected: 7:19: `break` leaves what #pragma hiroba task stands above
// remedy: set a variable there, and decide behind it
