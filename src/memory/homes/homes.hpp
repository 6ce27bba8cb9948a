// Part of the contract of this floor: the policy by which homes of an array's pages move to the ranks that write them.
// Arrays::redistribute moves them all at once. README.md, "Homes that move".
//
// Owner: Memory. Collective; blocks.
#pragma once

#include <string>

#include "base/shown.hpp"
#include "memory/array.hpp"

namespace hiroba {

struct MemoryParts;

class Homes {
 public:
  explicit Homes(MemoryParts& parts) : parts_(parts) {}

  [[HIROBA_SHOWN]] Status set_policy(void* data, HomePolicy policy, const char* call);

 private:
  MemoryParts& parts_;
};

}  // namespace hiroba
