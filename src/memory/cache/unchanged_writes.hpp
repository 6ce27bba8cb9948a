// Pages that this rank has written without changing a byte, as runs. No other rank needs to know of them, so they are
// in no notice; but their home may move to who writes them (HomePolicies).
//
// Owner: MemoryParts. Guarded like the notices. Nothing is kept before keep(), and nothing is allocated after it,
// because the fault handler writes back, too: of more runs the first are kept.
#pragma once

#include <vector>

#include "memory/array.hpp"

namespace hiroba {

class UnchangedWrites {
 public:
  void keep() { runs_.reserve(most); }
  void add(uint64_t page) {
    if (!runs_.empty() && page == runs_.back().first + runs_.back().pages) ++runs_.back().pages;
    else if (runs_.size() < runs_.capacity()) runs_.push_back({page, 1});
  }
  template <typename Visit>
  void take(const Visit& visit) {
    for (const PageRun& run : runs_) visit(run);
    runs_.clear();
  }

 private:
  static constexpr size_t most = 65536;
  std::vector<PageRun> runs_;
};

}  // namespace hiroba
