#include <mpc.h>
shared double a[10]::(0, NPROCS);
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 2:20: a map begins with a bracket per dimension
// remedy: write for example ::[NPROCS][1](0,NPROCS)
