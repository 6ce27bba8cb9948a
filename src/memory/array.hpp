// Shared arrays and the table that finds the one an address belongs to.
//
// The table is changed by collective calls only (one thread, no other touching shared memory) and read at any time,
// also in the fault handler: readers use an immutable snapshot. Of freed arrays the latest are kept, for messages
// about their use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/distribution.hpp"
#include "memory/layout.hpp"

namespace hiroba {

class Tracker;

struct PageRun {
  uint64_t first, pages;
  bool operator==(const PageRun&) const = default;
};

// Pages [first, first + pages) whose home is `rank`.
struct HomeRun {
  uint64_t first, pages;
  int rank;
};

// Counts for sms_stats; relaxed, so sums are exact only while nothing runs.
struct Counters {
  std::atomic<uint64_t> faults{0}, fetched{0}, preloaded{0}, bytes_fetched{0}, diffed{0}, bytes_sent{0}, evicted{0},
      invalidated{0}, notices{0}, cached{0};
};

inline void count(std::atomic<uint64_t>& counter, uint64_t n) { counter.fetch_add(n, std::memory_order_relaxed); }

// An array of which each rank has a part of its own, with closed pages after it (option check): `gap` bytes, the part,
// and `guard` closed bytes make `stride`.
struct GuardedParts {
  uint64_t stride = 0, gap = 0, bytes = 0, guard = 0, element = 1;  // stride 0: not such an array
  std::string name;
};

struct Array {
  GuardedParts parts;
  Distribution distribution;
  char* data = nullptr;     // the first element
  uint64_t first_page = 0;  // pages that hold it, numbered from the start of the address range
  uint64_t end_page = 0;
  std::vector<HomeRun> homes;  // in order, covering all pages
  char name[160] = "";
  bool freed = false;
  bool watched = false;    // option check: races on it are looked for
  bool race_told = false;  // one on it has been told of in this epoch, by somebody who knows the program's words
  std::atomic<bool> preloaded{false};  // this rank touches pages of other nodes only after preloading them
  int barriers = 0;                    // since the allocation; counted while it matters
  uint64_t gathered = 0;               // bytes of this rank's part, into huge pages
  Tracker* tracker = nullptr;          // of the pages whose home is another node
  std::atomic<uint64_t> cached_low{UINT64_MAX}, cached_high{0};  // pages outside [low, high) were never cached
  Counters counters;

  // Calls visit(first page, pages) for the longest runs whose homes all satisfy chosen(rank).
  template <typename Chosen, typename Visit>
  void for_each_run_of(const Chosen& chosen, const Visit& visit) const {
    for (size_t i = 0; i < homes.size();) {
      const uint64_t first = homes[i].first;
      if (!chosen(homes[i].rank)) {
        ++i;
        continue;
      }
      uint64_t end = first;
      while (i < homes.size() && chosen(homes[i].rank)) end = homes[i].first + homes[i].pages, ++i;
      visit(first, end - first);
    }
  }

  const HomeRun& home(uint64_t page) const {
    return *std::prev(
        std::upper_bound(homes.begin(), homes.end(), page, [](uint64_t p, const HomeRun& h) { return p < h.first; }));
  }
};

// "a[3][5]" of the element that has this byte of the array, counted from its first.
std::string element_name(const Array& array, int64_t byte);

class ArrayTable {
 public:
  // The array, live or freed, that is the last to begin at or before this page; null if none.
  Array* find(uint64_t page) const {
    const std::vector<Array*>* const arrays = current_.load(std::memory_order_acquire);
    if (arrays == nullptr) return nullptr;
    const auto after = std::upper_bound(arrays->begin(), arrays->end(), page,
                                        [](uint64_t p, const Array* a) { return p < a->first_page; });
    return after == arrays->begin() ? nullptr : *std::prev(after);
  }

  // The live array whose pages include this one; null if none.
  Array* live(uint64_t page) const {
    Array* const array = find(page);
    return array != nullptr && !array->freed && page < array->end_page ? array : nullptr;
  }

  void insert(std::unique_ptr<Array> array) {
    forget_old();
    auto next = std::make_unique<std::vector<Array*>>();
    for (const auto& a : owned_)  // a freed array stays until its pages are used again
      if (a->end_page <= array->first_page || a->first_page >= array->end_page) next->push_back(a.get());
    next->push_back(array.get());
    std::sort(next->begin(), next->end(), [](const Array* a, const Array* b) { return a->first_page < b->first_page; });
    owned_.push_back(std::move(array));
    current_.store(next.get(), std::memory_order_release);
    snapshot_ = std::move(next);
  }

  template <typename Visit>
  void for_each_live(const Visit& visit) const {
    if (const auto* arrays = current_.load(std::memory_order_acquire))
      for (Array* a : *arrays)
        if (!a->freed) visit(*a);
  }

 private:
  static constexpr size_t freed_kept = 256;

  void forget_old() {
    size_t freed =
        static_cast<size_t>(std::count_if(owned_.begin(), owned_.end(), [](const auto& a) { return a->freed; }));
    std::erase_if(owned_, [&](const auto& a) { return a->freed && freed-- > freed_kept; });
  }

  std::atomic<const std::vector<Array*>*> current_{nullptr};
  std::unique_ptr<std::vector<Array*>> snapshot_;  // what current_ points to
  std::vector<std::unique_ptr<Array>> owned_;
};

}  // namespace hiroba
