// Pages that this rank has written without changing a byte, as runs. No other rank needs them, so no notice has them;
// but their home may move to the rank that writes them (HomePolicies).
//
// Owner: MemoryParts. Guarded like the notices. Stores nothing before keep(), and allocates nothing after it, because
// the fault handler writes back, too; runs beyond the capacity are dropped.
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
