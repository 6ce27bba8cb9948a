#include <smint.h>
struct s {
  int n;
#pragma SMint shared ::[1](0, 1)
  double a[10];
};
int main(void) { return 0; }
// expected: 4:1: a member of a struct cannot be shared by itself
// remedy: declare the variable of the struct type shared
