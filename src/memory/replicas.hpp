// Part of the contract of this floor: pages of other nodes that a rank fills by itself, and that no part of this floor
// fetches, sends home or drops between open() and close(). Floors above that know exactly which bytes are used where
// (tasks) keep these consistent.
//
// Owner: Memory. Not thread-safe, but other threads may use shared memory during open(). Between open() and close() the
// rank makes no other collective call that synchronises memory.
#pragma once

#include <cstddef>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

struct MemoryParts;

class Replicas {
 public:
  explicit Replicas(MemoryParts& parts) : parts_(parts) {}

  // Makes all pages of other nodes that hold any of these bytes, which lie in one array, readable and writable. Their
  // contents are undefined. What this rank has written to them before is at the home.
  void open(const void* address, size_t bytes);
  // Makes them absent again. Requires that no other thread of the rank touches shared memory; a sync_drop follows.
  void close();

 private:
  bool open_page(Array& array, uint64_t page);

  MemoryParts& parts_;
  std::vector<uint64_t> pages_;
};

}  // namespace hiroba
