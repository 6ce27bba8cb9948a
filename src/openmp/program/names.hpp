// Option check: names what threads race for as the program does: variables outside of functions, variables of functions
// that a region shares, and allocated objects.
//
// Owner: the process. For one thread, between two barriers.
#pragma once

#include <span>

#include "memory/memory.hpp"

namespace hiroba::openmp {

// Says where the program's variables are.
struct NameContext {
  int rank;
  Program program;
  std::span<const char> stacks;  // of all ranks
  const void *function, *data;   // of the region; null outside of one
};

ElementName name_of(const void* address, const NameContext& context);

}  // namespace hiroba::openmp
