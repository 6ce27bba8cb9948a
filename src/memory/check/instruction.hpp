// What the instruction that has faulted does to memory: which bytes, and whether it reads or writes them. By Zydis,
// which allocates nothing, so it may be used in a signal handler.
#pragma once

#include <ucontext.h>

#include <cstddef>

#include "base/status.hpp"

namespace hiroba {

// Loads Zydis: before the first memory_access().
Status load_decoder();

struct MemoryAccess {
  const char* address;
  size_t bytes;
  bool reads, writes, atomic;
};

// Of the operand that contains `address`. What cannot be decoded, or is masked, counts as one element at `address`,
// read or written as the fault says, so that no byte is named that the program does not touch.
MemoryAccess memory_access(const ucontext_t& context, const void* address);

}  // namespace hiroba
