// Common to the entry points of smint.h: this process's loops.
#pragma once

#include "loops/loops.hpp"
#include "process/process.hpp"

#define SMINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

Loops& loops();

}  // namespace hiroba
