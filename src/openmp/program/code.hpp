// The instructions of the program, and of its libraries, that would act on this rank's copies of shared memory alone. A
// fence, which GCC makes of `flush`, becomes a call, here in memory. Atomic operations that are no calls cannot be
// mended: the program has to be compiled with -fno-inline-atomics and sync_calls.h.
#pragma once

#include "base/status.hpp"
#include "memory/memory.hpp"

namespace hiroba::openmp {

// Fails with the place of an atomic operation. Before the code runs; only if ranks have copies.
Status prepare_code(const Program& program);

}  // namespace hiroba::openmp
