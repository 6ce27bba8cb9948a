#include <xmp.h>
int main(void) {
  int x = 1;
#pragma xmp reduction(x)
  return x;
}
// expected: 4:1: this reduction has no operator
// remedy: write reduction(+:x) with one of + - * & | ^ && || max min firstmax firstmin lastmax lastmin
