// Copies that others have written and that stay in the view: what their homes have now goes into them. README.md,
// "Intervals".
//
// Owner: Writeback. Under its flush lock; finish() blocks for the answers of the homes.
#pragma once

#include "memory/cache/copies.hpp"
#include "memory/cache/diff.hpp"

namespace hiroba {

class Refreshes {
 public:
  static constexpr size_t most = 8;      // under way at a time
  static constexpr uint32_t trial = 32;  // pages that could be refreshed, of which one is dropped

  explicit Refreshes(Copies& copies) : copies_(copies) {}

  // Whether it costs less than to drop the copy. `few`: the acquire is about few pages.
  bool worth_it(const Array& array, uint64_t page, bool few);
  // The page is busy and ours, until finish().
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
  uint32_t brought_ = 0;  // pages, or dropped to see whether they are used
  Completion arrived_;
};

}  // namespace hiroba
