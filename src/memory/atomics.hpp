// Part of the contract of this floor: atomic operations on shared integers of 4 or 8 bytes, performed at the home.
//
// Owner: Memory. Thread-safe; they block until the home has answered.
#pragma once

#include <cstdint>

#include "base/shown.hpp"
#include "memory/array.hpp"
#include "transport/transport.hpp"

namespace hiroba {

struct MemoryParts;

class Atomics {
 public:
  explicit Atomics(MemoryParts& parts) : parts_(parts) {}

  [[HIROBA_SHOWN]] Status add(void* address, unsigned bytes, uint64_t value, uint64_t& old);
  [[HIROBA_SHOWN]] Status swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old);

 private:
  struct Target;
  Status locate(void* address, unsigned bytes, Target& out) const;
  void record(const Target& target, bool writes);
  void settle(const Target& target);
  void changed(const Target& target);
  void seen(const Target& target, const void* address, unsigned bytes, uint64_t value);
  void before(const Target& target);
  void after(const Target& target);
  bool is_direct(const Target& target) const;
  uint64_t perform(const Target& target, void* address, RemoteWords::Operation operation, uint64_t operand,
                   uint64_t expected) const;

  MemoryParts& parts_;
};

}  // namespace hiroba
