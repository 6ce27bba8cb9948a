#include <mpc.h>
shared int f(void);
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 2:12: only variables can be shared
// remedy: share what the function works on
