#include <mpc.h>
shared double a[10]::[20:NPROCS](0, NPROCS);
int main(int argc, char** argv) { return mpc_init(&argc, &argv) + mpc_exit(); }
// expected: 2:15: `a` is allocated at the start, when the extents in its map are not known yet
// remedy: write the extents in the declaration, and pieces only in the map
