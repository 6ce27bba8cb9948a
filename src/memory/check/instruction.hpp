// Decodes the instruction that has faulted: the bytes that it accesses, and whether it reads or writes them. It uses
// Zydis, which allocates nothing, so a signal handler may call it.
#pragma once

#include <ucontext.h>

#include <cstddef>

#include "base/status.hpp"

namespace hiroba {

// Loads Zydis. Required before the first memory_access().
Status load_decoder();

struct MemoryAccess {
  const char* address;
  size_t bytes;
  bool reads, writes, atomic;
};

// Returns the access of the operand that contains `address`. An instruction that is masked or cannot be decoded counts
// as one byte at `address`, read or written as the fault says, so that no byte is named that the program does not
// touch.
MemoryAccess memory_access(const ucontext_t& context, const void* address);

}  // namespace hiroba
