#include <smint.h>
#pragma SMint shared ::[](0,1)
int a;
int main(void) {
#pragma SMint single
  {
    int inner(void) { return 1; }
    a = ({ return inner(); 2; });
  }
  return 0;
}
// expected: 8:12: `return` leaves what #pragma SMint single stands above
// remedy: set a variable there, and decide behind it
