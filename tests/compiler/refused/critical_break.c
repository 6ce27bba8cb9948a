#include <smint.h>
int main(int argc, char** argv) {
  for (int i = 0; i < argc; i++) {
#pragma SMint critical
    if (argc > 5) break;
  }
  return 0;
}
// expected: 5:19: `break` leaves what #pragma SMint critical stands above
// remedy: set a variable there, and decide behind it
