// Part of the contract of this floor: fetches of pages of other nodes that go on while the program computes. An access
// to a page that is on its way waits for it. What the cache has no room for comes when it is accessed.
//
// Owner: Memory. Thread-safe. Only wait() blocks.
#pragma once

#include <cstdint>
#include <span>

#include "memory/array.hpp"

namespace hiroba {

struct MemoryParts;

class Preloads {
 public:
  // Where a section lies that was started; 0: nothing is on its way.
  using Ticket = uint64_t;
  // Parts of a section that lie at most as many bytes apart come together with what is between them.
  static constexpr int64_t least_gap = page_bytes;

  explicit Preloads(MemoryParts& parts) : parts_(parts) {}

  Status start(const void* array, std::span<const Range> ranges, Ticket* ticket = nullptr);
  Status start_bytes(const void* address, size_t bytes);
  void wait();  // for all that were started
  void wait(Ticket ticket);

  // The pages of other nodes that are here; and bringing them again.
  PageSet here() const;
  void start(const PageSet& pages);

 private:
  bool start_box(Array& array, const Section& section, PageRun& run);

  MemoryParts& parts_;
};

}  // namespace hiroba
