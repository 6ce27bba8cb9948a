// Bytes of the address range that a piece of the program has named: disjoint runs in order. Values; look-ups allocate
// nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace hiroba {

class NamedBytes {
 public:
  // Bytes [begin, end), counted from the start of the address range.
  struct Run {
    uint64_t begin, end;
    bool operator==(const Run&) const = default;
  };

  NamedBytes() = default;
  // Accepts runs in any order; they may overlap.
  explicit NamedBytes(std::vector<Run> runs) {
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
    for (const Run& run : runs)
      if (!runs_.empty() && run.begin <= runs_.back().end) runs_.back().end = std::max(runs_.back().end, run.end);
      else runs_.push_back(run);
  }
  const std::vector<Run>& runs() const { return runs_; }

  // Returns whether all of [begin, end) is named.
  bool have(uint64_t begin, uint64_t end) const { return first_gap(begin, end) == end; }
  // Returns the first byte of [begin, end) that is not named; `end` if there is none.
  uint64_t first_gap(uint64_t begin, uint64_t end) const {
    const auto run = after(begin);
    return run == runs_.end() || run->begin > begin ? begin : std::min(run->end, end);
  }
  // Calls visit(begin, end) for all parts of [begin, end) that are not named.
  template <typename Visit>
  void for_each_gap(uint64_t begin, uint64_t end, const Visit& visit) const {
    for (auto run = after(begin); begin < end; ++run) {
      const uint64_t gap_end = run == runs_.end() ? end : std::min(run->begin, end);
      if (gap_end > begin) visit(begin, gap_end);
      if (run == runs_.end()) return;
      begin = run->end;
    }
  }

 private:
  // Returns the first run that ends after this byte.
  std::vector<Run>::const_iterator after(uint64_t byte) const {
    return std::upper_bound(runs_.begin(), runs_.end(), byte, [](uint64_t b, const Run& run) { return b < run.end; });
  }
  std::vector<Run> runs_;
};

}  // namespace hiroba
