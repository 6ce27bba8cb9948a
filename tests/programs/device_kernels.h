/* The kernels of the programs that use devices: for host devices in device_kernels.c, for those of NVIDIA in
 * device_kernels.cu. */
#ifndef DEVICE_KERNELS_H
#define DEVICE_KERNELS_H

#include "device.h"

typedef struct {
  int64_t count;
  double factor;
} Factor;

#ifdef __cplusplus
extern "C" {
#endif
extern const hiroba_kernel scale_kernel; /* data[0][i] *= factor */
extern const hiroba_kernel add_kernel;   /* data[1][i] = data[0][i] + factor */
extern const hiroba_kernel spin_kernel;  /* computes for about factor seconds; data[0][0] = 1 */
extern const hiroba_kernel wild_kernel;  /* fails */

/* Returns the seconds of the fastest copy of so many bytes: from pinned memory to the device, or back; for host devices
 * from memory to memory. */
double copy_time(size_t bytes, int to_device);
#ifdef __cplusplus
}
#endif
#endif
