// For how many intervals between barriers this rank has been the only one to write which pages: runs with a count, in
// order. Nothing for pages that it has not written. Bounded: of too many runs those with the smallest counts go.
//
// Owner: Homes. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

class WriteTally {
 public:
  struct Run {
    uint64_t first, pages;
    uint32_t intervals;
    bool operator==(const Run&) const = default;
  };
  static constexpr size_t most_runs = 65536;

  // Runs in order, disjoint. Of one interval: pages that this rank wrote alone, and pages that others wrote, whose
  // counts begin again.
  void add(std::span<const PageRun> alone, std::span<const PageRun> others);
  void forget(std::span<const PageRun> runs);
  void clear() { runs_.clear(); }
  bool empty() const { return runs_.empty(); }
  std::span<const Run> runs() const { return runs_; }

 private:
  void push(uint64_t first, uint64_t end, uint32_t intervals);
  void limit();

  std::vector<Run> runs_, next_;
};

}  // namespace hiroba
