// Part of the contract of this floor: memory of a rank that it allocates alone. Its node's ranks access it by its
// address, all others by the transport. None of it is cached, tracked or moved, so accesses to it are as fast as those
// to private memory, and what another rank writes there is seen at the next synchronisation with that rank.
//
// Owner: Memory. For the thread that makes collective calls.
#pragma once

#include <cstdint>
#include <map>

#include "base/ranges.hpp"
#include "base/status.hpp"
#include "memory/layout.hpp"

namespace hiroba {

struct MemoryParts;

class RankMemory {
 public:
  explicit RankMemory(MemoryParts& parts) : parts_(parts) {}

  // Chooses the offsets of all ranks' memory: those of rank 0 begin at a huge page after the layout, the other ranks'
  // follow. One has at most what arrays have, so that option space bounds all; all together have no more than 128 ranks
  // have at most.
  void place(const Layout& layout);
  static uint64_t end_of(const Layout& layout);
  uint64_t begin() const { return begin_; }
  uint64_t bytes() const { return bytes_; }  // of one rank, a power of two
  uint64_t end() const { return end_; }

  // Makes the memory of all ranks accessible, at the first call. Collective.
  Status start();
  // Returns memory that is zero. `what` is for messages: "array a".
  Status allocate(uint64_t bytes, const char* what, void*& out);
  void free(void* address);

 private:
  MemoryParts& parts_;
  uint64_t begin_ = 0, bytes_ = 0, end_ = 0;
  bool started_ = false;
  uint64_t in_use_ = 0;
  FreeRanges free_;                     // offsets
  std::map<uint64_t, uint64_t> taken_;  // offset, bytes
};

}  // namespace hiroba
