#include <mpc.h>
shared double a[10]::[NPROCS](NPROCS);
int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }
// expected: 2:30: a map ends with (first rank, number of ranks)
// remedy: write for example (0,NPROCS)
