#include <mpc.h>
shared int a[10]::[NPROCS](0, NPROCS);
int* p = &a[3];
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 3:11: shared `a` has no address before the program starts
// remedy: set this pointer in main, after the start
