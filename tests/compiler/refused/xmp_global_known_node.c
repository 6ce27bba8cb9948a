#include <xmp.h>
enum { FEW = 3, MANY = FEW * 7 };
static const int N = 20;
#pragma xmp nodes p[*]
#pragma xmp nodes q[FEW]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N], b[20];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp task on q[FEW]
  {
  }
}
// expected: 11:1: `q[FEW]` leaves dimension 1 of node array `q`, which has 0..2
// remedy: name nodes that are there
