/* kernel.h: the kernel of stencil27_device, for host devices and for those of NVIDIA. */
#ifndef STENCIL27_KERNEL_H
#define STENCIL27_KERNEL_H

#include <device.h>

#include "part.h"
#include "stencil27.h"

/* data[0]: planes [part.z0 - steps, part.z1 + steps) before, as far as the box has them; data[1]: planes
 * [part.z0, part.z1), which become what these are after `steps` steps. */
typedef struct kernel_argument {
  struct part part;
  int steps;
  const stencil27* host; /* for host devices: nobody else uses its scratch memory meanwhile */
} kernel_argument;

/* It has no function for devices of NVIDIA if there was no nvcc where it was built. */
extern const hiroba_kernel stencil27_kernel;

#endif
