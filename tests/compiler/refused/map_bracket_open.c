#include <mpc.h>
shared double a[10]::[NPROCS(0, NPROCS);
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 2:22: this map has a bracket that is not closed
// remedy: write for example ::[NPROCS][1](0,NPROCS)
