/* kernel.h: the kernels of fdtd_device, for host devices and for those of NVIDIA, and the slabs that they compute. */
#ifndef FDTD_KERNEL_H
#define FDTD_KERNEL_H

#include <device.h>

#include "fdtd.h"

typedef struct slab_of_rank {
  int z0, z1; /* its planes */
  hiroba_stream stream;
  fdtd host; /* with a share of the threads, and phases of its own; kernels give it the addresses on the device */
} slab_of_rank;

/* The planes that an update reads beside those that it writes. */
typedef struct reach {
  int below, above;
} reach;
static const reach of_p = {READ_BELOW_OF_P, READ_ABOVE_OF_P}, of_u = {READ_BELOW_OF_U, READ_ABOVE_OF_U};

typedef struct kernel_argument {
  slab_of_rank* slab;
  int step;
} kernel_argument;

/* The order of the data of the two kernels. CONSTANTS: solid cells of the planes and of HALO on each side, kinds of
 * rows, keep and add by x, y, z. OTHERS: the record of probes and the parts of p in absorbing layers, of which there
 * are. */
enum { CONSTANTS = 8 };
enum { U_P, U_X, U_Y, U_Z, U_CONSTANTS, U_DATA = U_CONSTANTS + CONSTANTS };
enum { P_Z, P_X, P_Y, P_P, P_CONSTANTS, P_OTHERS = P_CONSTANTS + CONSTANTS, P_MOST_DATA = P_OTHERS + 1 + FACES };

/* Updates of u, and of p with what sources add and probes measure. They have no function for devices of NVIDIA if there
 * was no nvcc where they were built. */
extern const hiroba_kernel fdtd_u_kernel, fdtd_p_kernel;

#endif
