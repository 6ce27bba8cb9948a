// Refreshes in place copies that others have written and that stay in the view: they get the present content of their
// homes. README.md, "Intervals".
//
// Owner: Writeback. Called under its flush lock; finish() blocks until the homes have answered.
#pragma once

#include "memory/cache/copies.hpp"
#include "memory/cache/diff.hpp"

namespace hiroba {

class Refreshes {
 public:
  static constexpr size_t most = 8;      // under way at a time
  static constexpr uint32_t trial = 32;  // of this many pages that could be refreshed, one is dropped

  explicit Refreshes(Copies& copies) : copies_(copies) {}

  // Returns whether a refresh costs less than dropping the copy. `few`: the acquire concerns few pages.
  bool worth_it(const Array& array, uint64_t page, bool few);
  // Requires that the caller holds the page busy, until finish().
  void start(Array& array, int home, uint64_t page);
  void finish();

 private:
  struct Refresh {
    Array* array;
    uint64_t page;
    bool unwritten;
    alignas(64) char fresh[page_bytes];
  };
  bool is_unwritten(uint64_t page) const;

  Copies& copies_;
  Refresh refreshes_[most];
  size_t count_ = 0;
  uint32_t brought_ = 0;  // pages refreshed, or dropped to see whether they are used
  Completion arrived_;
};

}  // namespace hiroba
