// Whether this machine can start so many ranks: what is known before the first of them is started.
#pragma once

#include "base/status.hpp"

namespace hiroba {

// `descriptors`: of this process, that a rank needs; 0 where another launcher starts the ranks. An error names the
// limit, its value, and how many ranks it allows.
Status check_capacity(int ranks, int nodes, int descriptors);

}  // namespace hiroba
