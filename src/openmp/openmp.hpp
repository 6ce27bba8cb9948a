// The contract of this floor: OpenMP programs whose regions run on the threads of all ranks. README.md has the
// protocol.
#pragma once

#include "openmp/objects.hpp"
#include "openmp/regions.hpp"
#include "openmp/words.hpp"
