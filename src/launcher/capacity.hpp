// Checks before the first rank starts that this machine can start all ranks.
#pragma once

#include "base/status.hpp"

namespace hiroba {

// `descriptors`: number of this process's descriptors that a rank needs; 0 if another launcher starts the ranks. An
// error names the limit, its value, and the number of ranks that it allows.
Status check_capacity(int ranks, int nodes, int descriptors);

}  // namespace hiroba
