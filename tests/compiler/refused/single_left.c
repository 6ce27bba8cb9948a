#include <smint.h>
int main(int argc, char** argv) {
#pragma SMint single
  {
    if (argc > 5) return 1;
  }
  return 0;
}
// expected: 5:19: `return` leaves what #pragma SMint single stands above
// remedy: set a variable there, and decide behind it
