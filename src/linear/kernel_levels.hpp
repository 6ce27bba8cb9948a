// The kernels of each kind of processor that they are compiled for. Constants.
#pragma once

#include "linear/kernels.hpp"

namespace hiroba {

using KernelTables = ForNumbers<Kernels>;
extern const KernelTables kernels_base;
#if defined(__x86_64__)
extern const KernelTables kernels_v3, kernels_v4;
#endif

}  // namespace hiroba
