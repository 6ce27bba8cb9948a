// The kernels of fdtd_device for devices of NVIDIA, where there are none.
#include "cuda_standin_kernels.hpp"

#include "../../apps/fdtd/cells.cu"

STANDIN_KERNEL(fdtd_u)
STANDIN_KERNEL(fdtd_p)
STANDIN_KERNEL(fdtd_source)
STANDIN_KERNEL(fdtd_probe)
