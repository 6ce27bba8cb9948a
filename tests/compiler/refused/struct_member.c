#include <mpc.h>
struct s {
  int n;
  shared double a[10]::[1](0, 1);
};
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 4:3: a member of a struct cannot be shared by itself
// remedy: declare the variable of the struct type shared
