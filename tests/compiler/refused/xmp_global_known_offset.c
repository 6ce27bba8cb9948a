#include <xmp.h>
enum { FEW = 3, MANY = FEW * 7 };
static const int N = 20;
#pragma xmp nodes p[*]
#pragma xmp nodes q[FEW]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N], b[20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[FEW - 2]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = FEW; i < N; i++) a[i - FEW] = 0;
}
// expected: 13:35: this subscript of `a` is 3 before what the node of the iteration has, and the shadow there is 1
// remedy: write #pragma xmp shadow a, and reflect, or move the data by gmove
