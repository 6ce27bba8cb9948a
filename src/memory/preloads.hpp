// Part of the contract of this floor: fetches of pages of other nodes that continue while the program computes. An
// access to a page whose fetch is under way waits for it. A page for which the cache has no room is fetched when it is
// accessed.
//
// Owner: Memory. Thread-safe. Only wait() blocks.
#pragma once

#include <cstdint>
#include <span>

#include "base/shown.hpp"
#include "memory/array.hpp"
#include "section/section.hpp"

namespace hiroba {

struct MemoryParts;

class Preloads {
 public:
  // Identifies the pages of a started section, in 63 bits; 0: no fetch is under way.
  using Ticket = uint64_t;
  // Parts of a section at most this many bytes apart are fetched together with the bytes between them.
  static constexpr int64_t least_gap = page_bytes;

  explicit Preloads(MemoryParts& parts) : parts_(parts) {}

  Status start(const void* array, std::span<const Range> ranges, Ticket* ticket = nullptr);
  // A section of any strides, of an array.
  Status start(const Section& section);
  [[HIROBA_SHOWN]] Status start_bytes(const void* address, size_t bytes);
  void wait();  // for all fetches
  void wait(Ticket ticket);
  // Returns true if all of its fetches have ended. Does not block.
  bool test(Ticket ticket);

  // Returns the pages of other nodes that are here; start() fetches them again.
  PageSet here() const;
  // On trial, some of the pages may not be used any more: each access then costs a fault, without a message, and
  // unused() returns those of them that no thread has accessed.
  [[HIROBA_SHOWN]] void start(const PageSet& pages, bool on_trial = false);
  [[HIROBA_SHOWN]] PageSet unused(const PageSet& pages) const;

  // Notes the pages that accesses bring from now on, until noted(), which returns the first thousands of them.
  [[HIROBA_SHOWN]] void note();
  [[HIROBA_SHOWN]] PageSet noted();

 private:
  void finish(uint64_t first, uint64_t end);
  bool start_box(Array& array, const Section& section, PageRun& run);

  MemoryParts& parts_;
};

}  // namespace hiroba
