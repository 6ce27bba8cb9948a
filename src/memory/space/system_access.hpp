// Part of the contract of this floor: shared memory that the system reads or writes on the program's behalf. The kernel
// takes no page fault for this library, so the pages are brought before. What was brought may go again when another
// thread fetches.
//
// Owner: Memory. Thread-safe; bringing blocks.
#pragma once

#include <cstddef>

#include "base/status.hpp"

namespace hiroba {

struct MemoryParts;

class SystemAccess {
 public:
  explicit SystemAccess(MemoryParts& parts) : parts_(parts) {}

  // Whether the system may find some of these bytes not here.
  bool may_need(const void* address, size_t bytes) const;
  // Brings as many of them, from the first on, as the cache should give to one call; returns how many.
  size_t bring(const char* address, size_t bytes, bool to_write);
  // All at once, for calls that cannot move a part. An error: the cache has no room for them.
  Status bring_all(const void* address, size_t bytes, bool to_write);

 private:
  MemoryParts& parts_;
};

}  // namespace hiroba
