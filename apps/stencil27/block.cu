/* The kernels, by their names: stencil27_DEPTH(part, from, to). */
#include "block.cuh"

#define KERNEL(depth, rows, warps)                                                          \
  extern "C" __global__ void __launch_bounds__(PART_LANES* warps, 1)                        \
      stencil27_##depth(part s, const double* __restrict__ from, double* __restrict__ to) { \
    tile<depth, rows, warps>::run(s, from, to);                                             \
  }
STENCIL27_KERNELS(KERNEL)
