#include <mpc.h>
shared double a[10]::[NPROCS][1](0, NPROCS);
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 2:20: the map has 2 brackets, and the array has 1 dimension
// remedy: give one bracket per dimension; [1] or [] where it is not divided
