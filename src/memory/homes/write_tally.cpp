#include "memory/homes/write_tally.hpp"

#include <algorithm>

#include "memory/page_runs.hpp"

namespace hiroba {

void WriteTally::push(uint64_t first, uint64_t end, uint32_t intervals) {
  if (first >= end) return;
  Run* const last = next_.empty() ? nullptr : &next_.back();
  if (last != nullptr && last->first + last->pages == first && last->intervals == intervals) last->pages += end - first;
  else next_.push_back({first, end - first, intervals});
}

void WriteTally::forget(std::span<const PageRun> runs) {
  next_.clear();
  for_each_without(std::span<const Run>(runs_), runs,
                   [this](uint64_t first, uint64_t end, const Run& run) { push(first, end, run.intervals); });
  runs_.swap(next_);
}

void WriteTally::add(std::span<const PageRun> alone, std::span<const PageRun> others) {
  forget(others);
  next_.clear();
  auto old = runs_.begin();
  uint64_t at = 0;  // *old is done below this page
  const auto keep_until = [&](uint64_t page) {
    for (; old != runs_.end() && old->first < page; ++old) {
      const uint64_t end = old->first + old->pages;
      push(std::max(at, old->first), std::min(end, page), old->intervals);
      if (end > page) return;
    }
  };
  for (const PageRun& run : alone) {
    keep_until(run.first);
    at = run.first;
    for (const uint64_t end = run.first + run.pages; at < end;) {
      while (old != runs_.end() && old->first + old->pages <= at) ++old;
      const bool known = old != runs_.end() && old->first <= at;
      const uint64_t bound = old == runs_.end() ? end : known ? old->first + old->pages : old->first;
      push(at, std::min(end, bound), known ? old->intervals + 1 : 1);
      at = std::min(end, bound);
    }
  }
  keep_until(UINT64_MAX);
  runs_.swap(next_);
  limit();
}

void WriteTally::limit() {
  for (uint32_t least = 1; runs_.size() > most_runs; ++least)
    std::erase_if(runs_, [least](const Run& run) { return run.intervals <= least; });
}

}  // namespace hiroba
