#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp template u[20][20]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][*] onto p
double a[20], m[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 20; i++) {
    a[i] = 0;
    i++;
  }
}
// expected: 12:3: a loop on a template changes `i` in its body
// remedy: write continue, or a condition around statements
