#include <mpc.h>
static int f(shared int a[10]) { return a[0]; }
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 2:14: a parameter cannot be shared
// remedy: take a pointer: those to shared arrays are plain pointers
