// Counts the intervals between barriers in which this rank alone has written a page: runs with a count, in order,
// without pages that it has not written. If there are too many runs, those with the smallest counts are dropped.
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

  // Adds one interval: pages that this rank wrote alone, and pages that others wrote, whose counts restart. Runs are in
  // order and disjoint.
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
