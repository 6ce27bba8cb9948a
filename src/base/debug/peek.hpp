// Reads private memory of other processes of this machine; the kernel copies it. Thread-safe; does not block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/job.hpp"
#include "base/status.hpp"

namespace hiroba {

// Returns whether the kernel lets ranks of this machine read each other's memory.
bool peeks_processes();
// Copies `bytes` from `address` in the process of `rank`; fails if that process has no such memory.
Status peek_process(Board& board, int rank, uint64_t address, void* to, size_t bytes);

}  // namespace hiroba
