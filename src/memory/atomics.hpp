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

  // Option check: an operation may order accesses before it and after it, unless its caller notes what it orders.
  enum class Order { unknown, noted };
  [[HIROBA_SHOWN]] Status add(void* address, unsigned bytes, uint64_t value, uint64_t& old,
                              Order order = Order::unknown);
  [[HIROBA_SHOWN]] Status swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old,
                               Order order = Order::unknown);
  // Option check: these bytes are accessed by an operation that its caller has made of others.
  [[HIROBA_SHOWN]] void note(const void* address, unsigned bytes, bool writes);

 private:
  struct Target;
  Status locate(void* address, unsigned bytes, Target& out) const;
  void record(const Target& target, bool writes, Order order);
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
