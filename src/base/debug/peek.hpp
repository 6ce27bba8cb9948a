// Private memory of other processes of this machine, which the kernel copies. Thread-safe; does not block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/job.hpp"
#include "base/status.hpp"

namespace hiroba {

// Whether the kernel lets ranks of this machine read each other's memory.
bool peeks_processes();
// An error: that process has no such memory.
Status peek_process(Board& board, int rank, uint64_t address, void* to, size_t bytes);

}  // namespace hiroba
