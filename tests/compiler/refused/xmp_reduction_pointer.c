#include <xmp.h>
#pragma xmp nodes p[4]
void sum(int n, double *a) {
#pragma xmp reduction(+:a)
  (void)n;
}
int main(void) { sum(0, 0); }
// expected: 4:1: `a` in this reduction is a pointer
// remedy: name an array, or one element: p[0]
