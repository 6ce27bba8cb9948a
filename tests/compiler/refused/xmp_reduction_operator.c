#include <xmp.h>
int main(void) {
  int x = 1;
#pragma xmp reduction(avg:x)
  return x;
}
// expected: 4:1: `avg` is no operator of a reduction
// remedy: write reduction(+:x) with one of + - * & | ^ && || max min firstmax firstmin lastmax lastmin
