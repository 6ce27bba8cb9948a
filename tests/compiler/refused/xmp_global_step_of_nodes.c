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
#pragma xmp task on q[0:3:2]
  {
  }
}
// expected: 11:1: `q[0:3:2]` leaves dimension 1 of node array `q`, which has 0..2
// remedy: name nodes that are there; [0:3:2] are 3 nodes, of which each is 2 after the one before
