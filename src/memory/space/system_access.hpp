// Part of the contract of this floor: shared memory that the system reads or writes on the program's behalf. The kernel
// takes no page fault for this library, so the pages are fetched before the call. They may be evicted again when
// another thread fetches.
//
// Owner: Memory. Thread-safe; bring() and bring_all() block.
#pragma once

#include <cstddef>

#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

struct MemoryParts;

class SystemAccess {
 public:
  explicit SystemAccess(MemoryParts& parts) : parts_(parts) {}

  // Returns whether some of these bytes may be inaccessible to the system.
  [[HIROBA_SHOWN]] bool may_need(const void* address, size_t bytes) const;
  // Fetches as many of them, from the first on, as one call may take of the cache; returns their number.
  size_t bring(const char* address, size_t bytes, bool to_write);
  // Fetches all of them, for calls that cannot move a part. Fails if the cache has no room for them.
  [[HIROBA_SHOWN]] Status bring_all(const void* address, size_t bytes, bool to_write);

 private:
  MemoryParts& parts_;
};

}  // namespace hiroba
