// Reads private memory of other processes of this machine, which the kernel copies, and takes their descriptors.
// Thread-safe; does not block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/job.hpp"
#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

// Returns whether the kernel lets ranks of this machine read each other's memory.
bool peeks_processes();
// Copies `bytes` from `address` in the process of `rank`; fails if that process has no such memory.
Status peek_process(Board& board, int rank, uint64_t address, void* to, size_t bytes);

// Lets other processes of the user do both with this one, where the kernel else lets only its parents.
[[HIROBA_SHOWN]] void let_others_peek();
// From now on only this process and those below it, such as hirobarun and its ranks; 0: no others any more.
void let_only_below_peek(pid_t ancestor);
// Returns a descriptor of another process as one of this process, or -1 if the kernel forbids that. Safe in a signal
// handler.
[[HIROBA_SHOWN]] int take_descriptor(pid_t process, int descriptor);

}  // namespace hiroba
