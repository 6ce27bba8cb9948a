#include <smint.h>
int main(int argc, char** argv) {
  if (argc > 1)
#pragma SMint barrier
    return 1;
  return argv == 0;
}
// expected: 4:1: #pragma SMint barrier would be all that the `if` above it does
// remedy: put braces around it and the statement behind it
