// Computes differences of lists of runs of pages, which are in order and disjoint. Pure arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

// Calls visit(first page, end page, run) for the parts of each run that are in none of the others.
template <typename Run, typename Visit>
void for_each_without(std::span<const Run> runs, std::span<const PageRun> others, const Visit& visit) {
  auto other = others.begin();
  for (const Run& run : runs) {
    uint64_t at = run.first;
    const uint64_t end = run.first + run.pages;
    while (other != others.end() && other->first + other->pages <= at) ++other;
    for (auto o = other; at < end && o != others.end() && o->first < end; ++o) {
      if (o->first > at) visit(at, o->first, run);
      at = std::max(at, o->first + o->pages);
    }
    if (at < end) visit(at, end, run);
  }
}

inline std::vector<PageRun> without(std::span<const PageRun> runs, std::span<const PageRun> others) {
  std::vector<PageRun> out;
  for_each_without(runs, others,
                   [&out](uint64_t first, uint64_t end, const PageRun&) { out.push_back({first, end - first}); });
  return out;
}

// Sorts the runs and merges those that overlap or touch.
inline void merge_runs(std::vector<PageRun>& runs) {
  std::sort(runs.begin(), runs.end(), [](const PageRun& a, const PageRun& b) { return a.first < b.first; });
  size_t count = 0;
  for (const PageRun& run : runs) {
    PageRun* const last = count == 0 ? nullptr : &runs[count - 1];
    if (last != nullptr && run.first <= last->first + last->pages)
      last->pages = std::max(last->pages, run.first + run.pages - last->first);
    else runs[count++] = run;
  }
  runs.resize(count);
}

}  // namespace hiroba
