#include <task.h>
double a[10], b[4][4][4][4][4];
int main(void) {
#pragma hiroba taskloop grainsize(3) out(a[i])
  for (int i = 0; i < 10; i++) {
    if (a[i] > 0) break;
    a[i] = i;
  }
}
// expected: 6:19: `break` leaves what #pragma hiroba taskloop stands above
// remedy: set a variable there, and decide behind it
