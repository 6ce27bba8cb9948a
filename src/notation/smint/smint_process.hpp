// Common to the entry points of smint.h: this process's loops.
#pragma once

#include "loops/loops.hpp"
#include "process/process.hpp"
#include "smint.h"

#define SMINT_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

Loops& loops();

// Returns how this reduction combines two of its numbers; ends the job if there is no such thing.
Combine combine_of(const smint_reduction& reduction, const char* place);

}  // namespace hiroba
